"""The demo corpus: the inbox of the service desk of Brindlemouth, a small harbour city we made up.

All texts were written for this library. `# topic | language` starts a known group, `name = a | b`
lists the replacements for `{name}`, `[a/b]` is a choice made in place, and the sentences follow the
dash. A message has at most a greeting, one to three sentences of its group, and a goodbye.
"""

import random
import re

from coterie.datasets._writing import Slots, Topic, read

_SHARED = """
# everyone | any
street = Heron Lane | Cooper's Row | Saltmarsh Road | Lantern Hill | Vicarage Steps | Quince Street
  | Tannery Walk | Plum Orchard Close | Ropemakers' Alley | Beacon Terrace | Kingfisher Way | Old
  Mint Street | Chandler's Court | Upper Weir Road | Nettle Green | Lower Sluice
name = Odile P. | Tom Barrow | Mrs Achterberg | Ines | J. Falk | Pilar M. | Dr Okoye | Benedikt |
  Wren | Old Salty | Yusuf A. | Famille Roux | Greta, flat 4 | Señora Luz | R. Penhallow
smile = 🙏 | 😡 | 🙂 | 😭 | 🐟 | 🤷 | ⚓ | 👏
# everyone | en
hello = Hello, | Hi there, | Good morning, | Dear city, | Dear service desk, | Hi, | To whom it
  concerns: | Hello again, | Excuse me, | @brindlemouth | Good evening, | Morning all!
bye = Thanks. | Thank you very much. | Please help. | Kind regards, {name} | Many thanks, {name} |
  Please reply soon! | Cheers, {name} | Best wishes, {name} | My reference is BM-{ref}. | Not happy.
  | Could someone call me back? | <b>Urgent!!</b> | Thank you for all you do. | Sent from my phone
again = Second message about this: | Still waiting. | Again, since nobody answered: | Copy for the
  mayor: | As I wrote {when}: | Fwd: | Reminder: | Any news on this?
aside = And while I am writing: | One more thing: | By the way: | PS: | Also, not your fault, but:
when = this morning | last Tuesday | yesterday evening | again today | on Sunday | over the weekend
  | at half past six | two weeks ago | on market day | just now
mood = I am [quite/rather] cross | my mother is worried | the whole street is talking | I am puzzled
  | we are patient people | I do not like to complain | my neighbour agrees | this is getting silly
# everyone | de
hello = Guten Tag, | Hallo, | Liebe Stadt, | Sehr geehrte Damen und Herren, | Moin, | Guten Morgen,
  | Hallo zusammen, | @brindlemouth | Grüß Gott,
bye = Danke. | Vielen Dank! | Mit freundlichen Grüßen, {name} | Bitte um Antwort. | Viele Grüße,
  {name} | Danke im Voraus, {name} | Mein Zeichen: BM-{ref}. | <b>Dringend!</b> | Bitte melden!
again = Noch einmal: | Zweite Nachricht: | Ich warte immer noch. | Zur Erinnerung: | Fwd:
aside = Und wenn ich schon schreibe: | Übrigens: | Noch etwas: | PS:
when = heute Morgen | am Montag | am Dienstag | gestern Abend | schon wieder | vor {n} Tagen | am
  Wochenende | vor zwei Wochen | am Markttag | vorhin
# everyone | fr
hello = Bonjour, | Bonsoir, | Madame, Monsieur, | Chère mairie, | Bonjour à tous, | @brindlemouth |
  Rebonjour, | Cher service,
bye = Merci. | Merci beaucoup ! | Cordialement, {name} | Merci de me répondre. | Bien à vous, {name}
  | Ma référence : BM-{ref}. | <b>Urgent !</b> | Merci d'avance, {name} | Bonne journée.
again = Je relance : | Deuxième message : | Toujours sans réponse. | Pour rappel : | Fwd:
aside = Et tant que j'y suis : | Au fait : | Autre chose : | PS :
when = ce matin | mardi dernier | lundi | hier soir | il y a {n} jours | dimanche | le week-end
  dernier | il y a deux semaines | le jour du marché | encore aujourd'hui
# everyone | es
hello = Hola, | Buenos días, | Buenas tardes, | Estimado ayuntamiento, | Hola de nuevo, |
  @brindlemouth | Muy buenas, | Estimados señores,
bye = Gracias. | ¡Muchas gracias! | Un saludo, {name} | Espero su respuesta. | Atentamente, {name} |
  Mi referencia es BM-{ref}. | <b>¡Urgente!</b> | Gracias de antemano, {name} | Buen día.
again = Escribo otra vez: | Segundo mensaje: | Sigo esperando. | Recordatorio: | Fwd:
aside = Y ya que escribo: | Por cierto: | Otra cosa: | PD:
when = esta mañana | el martes pasado | el lunes | anoche | hace {n} días | el domingo | este fin de
  semana | hace dos semanas | el día de mercado | otra vez hoy
"""

# the order is the order of size: the first group is the largest
_GROUPS = """
# missed bins | en
bin = brown bin | green bin | recycling bin | glass bin | wheelie bin | food waste bin | paper bin |
  black bin | garden bin | bin | neighbour's bin | rubbish bin
rot = smells of old fish | is full of maggots | is overflowing | feeds the rats | will not close |
  is still full | blocks the pavement | attracts wasps | rolled down the hill
- The {bin} at {n} {street} was not emptied {when} and {rot}. | You missed our {bin} {when}, so it
  {rot}. | The [lorry/crew/truck] drove past and did not empty the {bin} in {street}. | My {bin}
  {rot}; the next collection is in {n} days. | Which day is the {bin} emptied in {street}? It {rot}.
  | We put the {bin} out before seven, yet it was not collected. | The [crew/lorry] emptied half the
  {bin} on the road, the rest {rot}. | May I order a second {bin}? Ours {rot}. | [Somebody/A fox/The
  wind] took the lid of the {bin} {when}, now it {rot}. | The collection day for {street} on
  https://brindlemouth.example/bins is wrong, my {bin} {rot}. | Why was the {bin} not collected? It
  held only [cardboard/glass/peelings/"rubbish"]. | {mood}: a missed collection again, and the {bin}
  {rot}.
# parking fines | en
fine = parking fine | penalty notice | parking ticket | fixed penalty | fine | ticket | {n} euro
  fine | second fine
car = van | blue hatchback | car | camper | motorbike | delivery van | hire car | grandmother's car
why = the meter was broken | my permit was on the dashboard | the sign was hidden by a tree | I was
  unloading a piano | I paid by app | the parking disc showed half past two | the lines are worn
  away | I overstayed by {n} minutes | the meter ate my coins
- I [want/wish] to appeal the {fine} on my {car} in {street}: {why}. | Your warden gave my {car} a
  {fine} {when} although {why}. | How do I pay the {fine}? And {why}, by the way. | Can I renew the
  parking permit {ref} for my {car}? | The parking meter in {street} [takes no cards/prints nothing]
  and my {car} got a {fine}. | Please cancel {fine} {ref}, because {why}. | {mood}. A {fine} for
  parking outside my own house, when {why}! | The warden could see that {why}, and still wrote a
  {fine}. | Got a {fine} in the post for a {car} I sold {when}. | Is parking free in {street}, or
  will my {car} get a {fine}? | My appeal against the {fine} was refused, though {why}. | Does a
  visitor's {car} need a parking permit in {street} to avoid a {fine}?
# street lights | en
lamp = street light | lamp post | street lamp | lantern | lamp outside number {n} | row of lamps |
  LED lamp | new street light
dark = is out | flickers all night | has been dark for {n} days | buzzes like a bee | burns in broad
  daylight | hangs by its cable | blinks on and off | died with a bang | glows a sickly pink
- The {lamp} in {street} {dark}. | It is pitch dark on {street} because the {lamp} {dark}. | Lamp
  {ref} on the corner of {street} {dark}. | Could an electrician look at the {lamp}? It {dark}. |
  The {lamp} shines into our bedroom all night; can you dim the light? | One {lamp} {dark}, the next
  {lamp} {dark}: I walk {street} with a torch. | A [car/cow/tractor] bent the {lamp} near {street}
  {when} and now it {dark}. | {mood}: the {lamp} {dark} and someone will trip in the dark. | The
  timer of the {lamp} is wrong, it {dark}. | I reported the dark {lamp} {when}; "repaired", says the
  map, yet it {dark}. | We old folk on {street} stay in after dusk since the {lamp} {dark}. | Ivy
  has covered the {lamp}, so no light reaches {street}.
# potholes | en
hole = pothole | crater | hole in the road | sunken manhole | crack in the tarmac | loose cobble |
  deep pothole | row of potholes
hurt = burst my tyre | bent a wheel rim | threw me off my bicycle | swallowed a pram wheel | soaks
  everyone when it rains | broke the axle of the milk cart | is bucket-deep | ate a wheel
- There is a {hole} on {street} that {hurt}. | A {hole} near {n} {street} {hurt} {when}; who pays? |
  The {hole} in {street} was filled {when} and the tarmac has crumbled again. | When will {street}
  be resurfaced? Cyclists swerve round the {hole}. | {mood}: that {hole} {hurt}, and so did the
  {hole} beside it. | Since the frost the {hole} on {street} is {n} centimetres deep and {hurt}. |
  Somebody planted a geranium in the {hole} on {street}. Nice, but it {hurt}. | The workmen dug up
  the road and left a {hole} that {hurt}. | I claim {n} euros for a tyre, as a {hole} on {street}
  {hurt}. | Send the tarmac crew to {street}, please: the {hole} {hurt}. | My bicycle hit a {hole}
  in the rain {when}, and it {hurt}. | The road along {street} is one long {hole}, the bus rattles
  like a drawer of spoons.
# harbour ferry | en
boat = ferry | little ferry | seven o'clock ferry | last ferry | island ferry | morning ferry |
  evening ferry | ferry to the island
fail = was cancelled | left early | was {n} minutes late | sailed without us | turned round halfway
  | was full | broke down mid-channel | waited for the captain's sandwich
- The {boat} {fail} {when} and nobody on the pier knew why. | When does the {boat} sail from the
  pier in winter? | Can I take a [bicycle/dog/sofa/cello/goat] on the {boat}, and what is the fare?
  | The {boat} {fail}, so {n} passengers stood on the pier in the rain. | I left my
  [umbrella/hat/violin/rucksack] on the {boat} {when}; has the captain found it? | The fare for the
  {boat} went up by {n} cents, while the {boat} {fail}. | Does the {boat} sail [on Sunday/in fog/on
  Christmas Day/tomorrow]? | Because the {boat} {fail}, my pupils on the island missed their exam. |
  The ramp at the pier is too steep at low tide, and the {boat} {fail}. | Praise for the captain of
  the {boat}: a gale, a calm voice, every passenger safe on the pier. | {mood}: the {boat} {fail}
  three times in one week. | The machine on the pier sold me a fare for the {boat}, but it {fail}.
# seagulls | en
gull = gull | seagull | enormous gull | pair of gulls | one-legged gull | gull called Admiral |
  herring gull | fat gull
loot = chips | ice cream | sandwich | wedding cake | sausage | spectacles | croissant | picnic
- A {gull} stole my {loot} {when} outside the town hall. | The {gull} on our roof in {street}
  screams from four in the morning. | Please put up signs: do not feed {loot} to the {gull}! | There
  is a nest on the roof of {n} {street} and the {gull} dives at the postman. | My toddler cried,
  since a {gull} snatched the {loot} from her hand. | Is the {gull} protected, or may we move the
  nest from the roof? | {mood}, for a {gull} pecked at our windows to get at the {loot}. | The
  {gull} opens the baker's door and walks out with my {loot}. | The {gull} has ruined our roof and
  my {loot} with its droppings. | A {gull} with a hurt wing sits on the promenade; who rescues
  birds? | Spikes on the roof did nothing: the {gull} nests between them, and eats my {loot}. | The
  plastic owl on the promenade is now friends with the {gull}; they share {loot}.
# missed bins (de) | de
tonne = braune Tonne | Biotonne | gelbe Tonne | Papiertonne | Restmülltonne | blaue Tonne |
  Glaskiste | Mülltonne
übel = stinkt nach Fisch | quillt über | steht noch voll da | lockt Ratten an | ist voller Maden |
  geht nicht mehr zu | versperrt den Gehweg | wurde umgeworfen
- Die {tonne} in {street} {n} wurde {when} nicht geleert und {übel}. | Wann wird die {tonne} nach
  dem Feiertag in {street} abgeholt? | Das Müllauto ist {when} einfach vorbeigefahren, unsere
  {tonne} {übel}. | Die {tonne} {übel}, und die nächste Leerung ist erst in {n} Tagen. | Kann ich
  eine zweite {tonne} bestellen? Unsere {übel}. | Bei allen Nachbarn wurde geleert, nur die {tonne}
  vor Nummer {n} nicht. | Im Abfallkalender steht für {street} der falsche Tag, die {tonne} {übel}.
  | Die Müllabfuhr hat {when} den halben Inhalt der Tonne auf die Straße gekippt. | Warum wurde die
  {tonne} nicht mitgenommen? Es war nur [Pappe/Glas/Laub] drin. | Der Deckel war {when} weg, die
  {tonne} {übel}. | Gehört ein Pizzakarton in die {tonne} oder nicht? Der Abfallkalender sagt
  beides. | Die {tonne} {übel}; {when} kam keine Müllabfuhr nach {street}.
# library | en
book = novel | atlas | cookbook | crime novel | book about whales | audiobook | picture book |
  biography | book of poems | travel guide
fuss = is overdue | has a page missing | smells of pipe smoke | was chewed by my dog | fell in the
  bath | is reserved by someone else | ends in the middle
- I would like to renew the {book} from the library; my library card is {ref}. | The {book} I
  borrowed {fuss}. What is the library's late fee? | Is the library open [on Sunday/today/at
  Easter]? The {book} {fuss}. | My library card has expired, and I cannot reserve the {book}. |
  Could the library buy a {book} by a local author? I would borrow it at once. | I returned the
  {book} to the library {when}, but my card says it {fuss}. | The reading room is cold; the
  librarian lent me a scarf and a {book}. | Is there story hour in the library with the {book}? My
  son adores the librarian. | I found {n} euros inside a library {book} and gave them to the
  librarian. | The {book} {fuss}, and the other {book} I borrowed {fuss}. | How many books may one
  borrow on a library card, and does a {book} count? | {mood}: the library says the {book} is on the
  shelf, but it {fuss}.
# lost pets | en
pet = ginger cat | tabby cat | black kitten | small terrier | tortoise | green parrot | white rabbit
  | deaf old spaniel | three-legged cat | grey cat
sign = answers to "Biscuit" | wears a red collar | limps a little | has one white paw | is
  microchipped | is shy of men with hats | has a torn ear | answers to "Captain" | hums when happy
- Our {pet} has been missing for {n} days, last seen near {street}; it {sign}. | Lost: {pet}. It
  {sign}. Reward of {n} euros! | Found a {pet} in my shed in {street}; it {sign}. Whose is it? | Has
  anyone found a {pet}? Ours {sign}. | May I hang posters of our missing {pet} on {street}? It
  {sign}. | A {pet} followed me home {when} and now sleeps in my hat. It {sign}. | The children are
  in tears, our {pet} slipped out of the gate and it {sign}. | The {pet} reported missing {when} is
  home again, thin but purring! | I saw a lost {pet} at the animal shelter, it {sign}. | Please ask
  the neighbours to check their sheds: our {pet} is lost and {sign}. | The vet scanned the stray
  {pet}: no chip, no owner, but it {sign}. | {mood}. Someone is feeding our {pet}, it only sleeps
  here.
# parking fines (fr) | fr
auto = voiture | camionnette | fourgonnette | moto | vieille berline | voiture de location
raison = l'horodateur était en panne | mon macaron était visible | le panneau était caché | je
  déchargeais un piano | j'avais payé par téléphone | le marquage est effacé | j'avais {n} minutes
  de retard | la machine a avalé mes pièces
- Je conteste l'amende pour ma {auto} garée {street} : {raison}. | J'ai reçu une contravention
  {when} alors que {raison}. | Comment payer l'amende {ref} ? Le site refuse ma carte. | Votre agent
  a verbalisé ma {auto} {when}, pourtant {raison}. | Je voudrais renouveler mon permis de
  stationnement résident pour ma {auto}. | L'horodateur de {street} ne rend pas la monnaie et ma
  {auto} a pris une amende. | Merci d'annuler la contravention {ref}, car {raison} ; j'ai une photo.
  | Ma {auto} était bien garée : {raison}. | Le stationnement est-il gratuit le dimanche {street}
  pour une {auto} ? | Une amende de {n} euros devant chez moi, c'est exagéré, {raison} ! | Mon
  recours contre l'amende a été rejeté {when}, à qui faire appel pour ma {auto} ? | Où acheter un
  permis de stationnement visiteur pour une {auto}, et pour combien d'heures ?
# swimming pool | en
pool = pool | swimming pool | children's pool | indoor pool | sea-water pool | paddling pool | small
  pool | big pool
chill = is freezing | is far too warm | tastes of vinegar | was closed {when} | is cloudy and green
  | has no lifeguard | is full of school classes | smells of chlorine
- The water in the {pool} {chill}; the showers are cold as well. | When is lane swimming in the
  {pool}? I swim {n} lengths before work. | I left my goggles in locker {n} at the {pool} {when}. |
  The {pool} {chill}, so our swimming lesson was cancelled. | How do I book swimming lessons in the
  {pool}? I am {n} and never learned to swim. | Does the season ticket for the {pool} cover the
  sauna? | The lockers at the {pool} are broken, my swimming towel was stolen {when}. | The
  lifeguard at the {pool} whistles at us for floating. | The tiles by the {pool} are slippery, a
  swimmer fell {when}. | Too much chlorine! The {pool} {chill} and my hair has turned green. |
  {mood}: the {pool} {chill}, and the {pool} {chill}. | A duck swims in the {pool}. It has no season
  ticket, but the lifeguard likes it.
# weddings | en
hall = town hall | bandstand | registry office | old lighthouse | rose garden | council chamber |
  pier pavilion | lifeboat house
guest = {n} guests | two witnesses | a brass band | a very old aunt | an accordion | forty doves |
  our spaniel | a large cake
- We would like to get married at the {hall} with {guest}; which dates are free? | What papers do a
  bride and groom need for a wedding at the {hall}? | Can we bring {guest} and {guest} to the
  wedding at the {hall}? | I need a copy of my marriage certificate from the {hall}. | The registrar
  got the groom's name wrong on the certificate {when}. | How much is a wedding on Saturday at the
  {hall} with {guest}? | My groom was born abroad; must his birth certificate be translated for the
  wedding? | May we move our wedding from the {hall} to the {hall}? There will be {guest}. | Our
  wedding at the {hall} was lovely, the registrar danced with {guest}! | Is there a ramp at the
  {hall}? The bride's grandmother comes with {guest}. | The registrar at the {hall} has not sent our
  daughter's birth certificate. | Please cancel our wedding at the {hall}. The bride has met {guest}
  instead.
# harbour ferry (de) | de
boot = Fähre | kleine Fähre | letzte Fähre | Inselfähre | Frühfähre | Fähre um zehn nach acht
fehl = ist ausgefallen | hatte {n} Minuten Verspätung | war überfüllt | fuhr ohne uns ab | kehrte im
  Nebel um | legte zu früh ab | hatte einen Motorschaden | wartete auf den Kapitän
- Die {boot} {fehl}, und am Anleger wusste {when} niemand etwas. | Wann fährt die {boot} im Winter?
  Der Fahrplan am Anleger ist verblichen. | Darf ich [ein Fahrrad/einen Hund/ein Cello/eine Ziege]
  auf die {boot} mitnehmen? | Die {boot} {fehl}; {n} Fahrgäste standen im Regen am Steg. | Ich habe
  {when} meinen [Schirm/Hut/Rucksack] auf der Fähre vergessen. | Die Monatskarte für die Fähre wurde
  teurer, aber die {boot} {fehl}. | Die {boot} {fehl}, darum kamen die Kinder von der Insel zu spät
  zur Schule. | Bei Ebbe ist die Rampe am Anleger zu steil für den Rollstuhl, und die {boot} {fehl}.
  | Ein Lob dem Kapitän: Sturm, ruhige Stimme, alle Fahrgäste heil auf der Insel. | Was kostet die
  Überfahrt zur Insel mit Hund? Und die {boot} {fehl}. | Der Automat am Steg verkaufte mir eine
  Fahrkarte, aber die {boot} {fehl}. | Die {boot} {fehl}, dann die nächste auch: im Fahrplan?
# seagulls (es) | es
botín = las patatas fritas | el helado | el bocadillo | la tarta de boda | una salchicha | las gafas
  | un cruasán | la merienda
gaviota = gaviota | gaviota enorme | gaviota coja | pareja de gaviotas | gaviota ladrona
- Una {gaviota} me robó {botín} {when} en el paseo marítimo. | La {gaviota} del tejado de {street}
  grita desde las cuatro, nadie duerme. | Pongan carteles: ¡no den {botín} a la {gaviota}! | Hay un
  nido en la chimenea de {street} {n} y la {gaviota} ataca al cartero. | Mi hija lloró porque una
  {gaviota} le quitó {botín} con el pico. | ¿Está protegida la {gaviota}, o podemos mover el nido
  con los huevos? | Una {gaviota} entró en la panadería {when} y salió con {botín}. | Los
  excrementos de la {gaviota} han arruinado el tejado y {botín}. | Hay una {gaviota} con el ala rota
  en el paseo marítimo; ¿quién rescata aves? | Los pinchos del tejado no sirven: la {gaviota} anida
  allí, hay plumas por todas partes. | El búho de plástico del paseo ya es amigo de la {gaviota}. |
  El cartero llevaba casco {when}, y aun así la {gaviota} le quitó {botín}.
# library (fr) | fr
livre = roman | dictionnaire | livre de cuisine | roman policier | livre sur les baleines | conte |
  recueil de poèmes | guide de voyage
souci = est en retard | a perdu une page | sent la pipe | a été mordu par mon chien | est tombé dans
  le bain | est déjà réservé | finit au milieu
- Je voudrais prolonger le {livre} emprunté à la bibliothèque {when}. | Le {livre} que j'ai emprunté
  {souci} ; quelle est la pénalité de la bibliothèque ? | La bibliothèque est-elle ouverte ? La
  porte {street} était fermée {when}. | Ma carte de lecteur {ref} a expiré, impossible de réserver
  un {livre}. | La bibliothèque peut-elle acheter un {livre} d'une autrice d'ici ? | J'ai rendu le
  {livre} {when}, mais mon compte de lecteur dit qu'il {souci}. | L'heure du conte a-t-elle lieu
  [samedi/mercredi] ? Mes enfants adorent la bibliothécaire. | Il fait froid dans la salle de
  lecture, on y lit un {livre} avec des gants. | J'ai trouvé {n} euros dans un {livre}, je les ai
  confiés à la bibliothécaire. | Le {livre} {souci}, et l'autre {livre} {souci}. | Combien de livres
  un enfant peut-il emprunter, et un {livre} compte-t-il ? | Le catalogue annonce un {livre} en
  rayon, mais il {souci}.
"""

# about one message in a hundred is one of these, each once
_ODD = """
# (none) | en
- Who winds the clock tower, and may I try? | I have invented a soup. Whom do I tell? | Is the echo
  under the aqueduct for hire? | Lost in thought near the weighbridge, please advise | Our quiz
  needs the weight of a cubic mile of jam | Is fog taxable? | My late uncle's trombone is haunted;
  does heritage protection apply? | What is the official colour of the mayor's chain when wet? |
  asdf test test ignore | Your hold music is Vivaldi played by wasps, yet I called twice just to
  hear it | Seeking a fourth for bridge. Must dislike talking. | Why does the map have a dragon on
  page nine? | Does "Brindle" come from the cow, the brook, or the brewer? Settling a bet. | The
  moon was upside down, no action needed | How tall was the tallest postmaster, in herrings? | Can
  the statue's nose be put back before Easter? | Please stop sending me the choir's minutes, I am a
  plumber in another country | A meteorite, or possibly a scone, landed in my greenhouse | Declining
  your invitation to jury duty; hiccups | Our kindergarten elected a snail as vice-president and
  needs a stamp for the decree | Is it legal to sell yodelling by the metre? | Selling: accordion,
  slightly sat upon, offers by pigeon | I dreamt of a staircase behind the archive. Please check. |
  Bitcoin millionaire secret!!! click hxxp | Which saint looks after printers? Ours jams | "Wrong
  number", I suppose, "but lovely to talk" | Mushrooms spell HELP beneath the cannon, photo follows
  | Thursday tastes of tin lately; is it the pipes? | May beekeepers vote twice if the hive is
  registered | My thesis concerns municipal doorknobs: any from before 1780? | Will the eclipse be
  repeated for those who overslept? | Tell Agnes the kettle forgave her | The sundial runs slow
# (none) | de
- Wer hat den Mond über der Mühle so schief aufgehängt? | Ein Maulwurf hat Widerspruch eingelegt,
  Formular liegt bei
# (none) | fr
- Le fantôme du grenier réclame ses pantoufles | Je cherche la recette du vent | Ceci n'est pas une
  réclamation
# (none) | es
- ¿Quién compuso el himno que silban los panaderos? | Cuánto pesa el silencio de la plaza a las tres
"""


def _fill(text: str, slots: Slots, rng: random.Random) -> str:
    """A template with its choices made, those inside a choice too."""
    numbers = {"n": lambda: rng.randint(2, 60), "ref": lambda: rng.randint(10_000, 99_999)}

    def value(found: re.Match[str]) -> str:
        slot = found[1]
        return str(numbers[slot]()) if slot in numbers else rng.choice(slots[slot])

    while "{" in text or "[" in text:
        text = re.sub(r"\[([^\]]+)\]", lambda found: rng.choice(found[1].split("/")), text)
        text = re.sub(r"\{(\w+)\}", value, text)
    return text


def _write(group: Topic, slots: Slots, others: list[Topic], rng: random.Random) -> str:
    """Perhaps a greeting, one to three sentences, an aside, a goodbye; typed in a hurry."""
    parts = rng.sample(group.sentences, rng.choice((1, 1, 2, 2, 2, 3)))
    if rng.random() < 0.05:
        other = rng.choice(others)
        aside = _fill(rng.choice(other.sentences), slots | other.slots, rng)
        parts += [rng.choice(slots["aside"]), aside]
    parts.insert(0, rng.choice(("", "{hello}")))
    parts.append(rng.choice(("", "{bye}")))
    parts.append("{smile}" if rng.random() < 0.03 else "")
    text = " ".join(_fill(" ".join(parts), slots, rng).split())
    text = re.sub(r"(?:^|[.!?] )[a-z]", lambda found: found[0].upper(), text)
    if group.note == "en":
        text = re.sub(r"\b([Aa]) (?=[aeiou](?!ne-))", r"\1n ", text)
    if rng.random() < 0.12:  # a typo: two neighbours swapped
        at = rng.randrange(1, len(text) - 2)
        text = text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    mood = rng.random()
    return text.lower() if mood < 0.08 else text.upper() if mood < 0.095 else text


def make_messages(n: int = 4000, seed: int = 7) -> tuple[list[str], list[str], list[str]]:
    """Messages to the service desk of Brindlemouth: texts, known group and language of each.

    The same `n` and `seed` give the same messages. About one in a hundred belongs to no group
    ("(none)", each wording once, so at most as many as there are) and one in 500 says nothing
    ("(empty)", language ""). A few are sent twice, word for word or nearly.
    """
    rng = random.Random(seed)
    shared = {group.note: group.slots for group in read(_SHARED)}
    groups = read(_GROUPS)
    odd = [(text, g.name, g.note) for g in read(_ODD) for text in g.sentences]
    rows = rng.sample(odd, min(n // 100, len(odd)))
    rows += [(rng.choice(("", " ", "\n", "  \t ")), "(empty)", "") for _ in range(n // 500)]
    weights = [1 / (rank + 2) for rank in range(len(groups))]
    sent: dict[str, list[str]] = {group.name: [] for group in groups}
    for group in rng.choices(groups, weights, k=n - len(rows)):
        slots = shared["any"] | shared[group.note] | group.slots
        earlier, chance = sent[group.name], rng.random()
        if earlier and chance < 0.02:
            text = rng.choice(earlier)
        elif earlier and chance < 0.05:
            text = _fill("{again} ", slots, rng) + rng.choice(earlier)
        else:
            others = [g for g in groups if g.note == group.note]
            text = _write(group, slots, others, rng)
        earlier.append(text)
        rows.append((text, group.name, group.note))
    rng.shuffle(rows)
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]
