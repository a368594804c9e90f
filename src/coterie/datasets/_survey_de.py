"""Answers of the staff of a maker of doors, which we made up, to "What should we improve?", in German.

The format is that of `_writing.read`. All texts were written for this library.
"""

SHARED = """
# alle | steady
oft = oft | fast immer | ständig | meistens | jeden Tag | viel zu oft | seit Monaten | mal wieder |
  regelmäßig
wir = unsere Schicht | das ganze Team | unsere Abteilung | die Frühschicht | die Montage | das Lager
  | die Lackiererei | unser Büro | die Nachtschicht
bitte = Bitte ändern. | Das wäre wichtig. | Das nervt. | Danke! | Das sagen alle. | Bitte endlich
  angehen. | Sonst alles gut. | Das war früher besser. | Mehr nicht.
"""

TOPICS = """
# Kantine | steady
essen = Suppe | Salatbar | Auswahl | Currywurst | Nachspeise | Beilage | vegetarische Kost | Pasta
- Das Essen in der Kantine ist {oft} kalt. | In der Kantine fehlt ein vegetarisches Gericht. | Die
  {essen} in der Kantine ist zu teuer geworden. | Mehr Abwechslung beim Mittagessen, die {essen} ist
  {oft} dieselbe. | Die Schlange in der Kantine ist zu lang, die Mittagspause reicht nicht. | Die
  {essen} schmeckt nach nichts. | Mittags ist die Kantine überfüllt, {wir} findet keinen Platz. |
  Kantine auch für die Spätschicht öffnen. | Größere Portionen und frisches Obst in der Kantine. |
  Der Kaffee in der Kantine ist {oft} ungenießbar.
# Parkplätze | steady
- Es gibt zu wenig Parkplätze. | Wer nach acht Uhr kommt, findet keinen Parkplatz mehr. | Der
  Parkplatz am Tor 2 ist {oft} voll. | Ladesäulen für Elektroautos auf dem Parkplatz. | Überdachte
  Stellplätze für Fahrräder wären schön. | {wir} parkt im Wohngebiet und bekommt Strafzettel. | Die
  Schranke am Parkplatz ist {oft} kaputt. | Der Weg vom Parkplatz ist nachts nicht beleuchtet. |
  Feste Stellplätze für Fahrgemeinschaften. | Auf dem Parkplatz stehen {oft} Fremde.
# Homeoffice | steady
- Mehr Homeoffice, zwei Tage pro Woche sind zu wenig. | Die Regeln für das Homeoffice sind in jeder
  Abteilung anders. | Homeoffice wird {oft} abgelehnt, ohne Begründung. | Mobiles Arbeiten auch aus
  dem Ausland erlauben. | Einen Zuschuss für Schreibtisch und Stuhl im Homeoffice. | Wer im
  Homeoffice arbeitet, erfährt Neuigkeiten zuletzt. | Für {wir} gibt es gar kein Homeoffice, das ist
  ungerecht. | Flexiblere Arbeitszeiten und mehr Homeoffice für Eltern. | Die Tage im Homeoffice
  selbst wählen dürfen.
# Lärm | steady
- Im Großraumbüro ist es {oft} zu laut. | Man kann sich vor Lärm nicht konzentrieren. | Telefonate
  im Großraumbüro stören {wir}. | Mehr ruhige Räume zum Telefonieren. | Trennwände gegen den Lärm
  wären gut. | Der Drucker neben meinem Platz ist {oft} laut. | In der Halle ist der Lärm ohne
  Gehörschutz nicht auszuhalten. | Besprechungen bitte nicht mitten im Großraumbüro. | Es gibt {oft}
  Baulärm, und keiner sagt vorher Bescheid.
# Computer | steady
gerät = Laptop | Rechner | Drucker | Bildschirm | Scanner | Server
- Mein {gerät} ist langsam und stürzt {oft} ab. | Die Software für die Zeiterfassung funktioniert
  {oft} nicht. | Neue Rechner, die alten brauchen zehn Minuten zum Starten. | Das WLAN in Halle 3
  fällt {oft} aus. | Die IT antwortet auf Tickets erst nach Wochen. | Ein zweiter Bildschirm für
  alle. | Passwörter müssen wir viel zu oft ändern. | Seit dem Update geht der {gerät} nicht mehr. |
  Das VPN bricht {oft} ab. | {wir} wartet seit Monaten auf neue Laptops.
# Gehalt | steady
- Das Gehalt ist niedriger als bei anderen Firmen der Region. | Seit drei Jahren keine
  Gehaltserhöhung. | Gleiches Gehalt für gleiche Arbeit. | Weihnachtsgeld und Urlaubsgeld wieder
  einführen. | Die Zuschläge für Nachtarbeit sind zu niedrig. | Eine faire Bezahlung nach Tarif. |
  Die Prämien sind nicht nachvollziehbar. | Neue verdienen mehr als Leute, die zwanzig Jahre da
  sind. | Mehr Geld, alles ist teurer geworden. | Überstunden sollten ausbezahlt werden, {wir}
  bekommt nichts.
# Vorgesetzte | steady
- Vorgesetzte sollten besser zuhören. | Entscheidungen der Leitung werden {oft} nicht erklärt. | Von
  Änderungen erfährt {wir} zuletzt. | Mehr Lob und Anerkennung von den Vorgesetzten. | Mein Chef hat
  {oft} keine Zeit für Gespräche. | Die Geschäftsführung sollte sich in der Halle zeigen. |
  Informationen kommen {oft} nicht an, {wir} rät dann nur. | Führungskräfte schulen, der Ton ist
  {oft} rau. | Ehrliche Kommunikation statt Rundmails der Leitung. | Jährliche Gespräche mit dem
  Vorgesetzten finden nicht statt.
# Zu wenig Leute | steady
- Wir sind zu wenige, {wir} arbeitet am Limit. | Stellen werden nicht nachbesetzt. | Zu viele
  Überstunden, weil Personal fehlt. | Wenn jemand krank ist, bricht alles zusammen. | Der Dienstplan
  ändert sich {oft} am Vorabend. | Mehr Personal im Versand, dort stapelt sich die Arbeit. |
  Leiharbeiter gehen, sobald sie eingearbeitet sind. | Urlaub wird {oft} gestrichen, weil Personal
  fehlt. | Der Stress nimmt zu, {wir} schafft das Pensum nicht. | Mehr Zeit zum Einarbeiten neuer
  Leute.
# Weiterbildung | steady
- Mehr Angebote zur Weiterbildung. | Schulungen werden {oft} verschoben. | Ein Englischkurs während
  der Arbeitszeit. | Die Ausbildung zum Meister sollte die Firma bezahlen. | Für {wir} gab es noch
  nie eine Schulung. | Seminare auch für Teilzeitkräfte. | Wer sich weiterbildet, hat danach keine
  Aufstiegschancen. | Die Schulung für die neue Maschine war zu kurz. | Online-Kurse ohne langen
  Antrag buchen können.
# Heizung und Luft | steady
- Im Winter ist es in der Halle zu kalt. | Die Klimaanlage im Büro zieht, {wir} ist {oft} erkältet.
  | Im Sommer ist es unter dem Dach unerträglich heiß. | Die Heizung fällt {oft} aus. | Die Fenster
  lassen sich nicht öffnen, die Luft ist schlecht. | Die Luft in der Lackiererei ist {oft} stickig.
  | Mehr Ventilatoren und Sonnenschutz gegen die Hitze. | Am Rolltor zieht es, das Tor steht {oft}
  offen.
"""

ODD = """
# (none) | steady
- k. A. | nichts | Passt alles. | weiß nicht | Siehe letztes Jahr. | Ein Hund im Büro! | Mehr
  Sonnenuntergänge. | Die Umfrage ist zu lang. | Fragen Sie lieber meine Frau. | Der Weihnachtsmann
  war letztes Jahr ein anderer. | Tischkicker | Freibier | Wozu ist Knopf Nummer neun? | 42 | Alles
  Roger | Gegenfrage: wer liest das?
"""

DEPARTMENTS = {
    "Fertigung": (3, 2, 0.3, 3, 1, 3, 2, 4, 2, 4),
    "Büro": (2, 2, 5, 4, 4, 2, 2, 1, 2, 2),
    "Versand": (2, 3, 0.2, 1, 2, 3, 2, 5, 1, 3),
    "Vertrieb": (1, 2, 3, 1, 3, 3, 2, 1, 2, 0.5),
}
SITES = ("Nordhafen", "Weidenau", "Kaltbrunn")
