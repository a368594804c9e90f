"""Titles of a newspaper that we made up, from a country that we made up.

The format is that of `_writing.read`. Places and people are put together from parts, so that there are
thousands of them. All texts were written for this library.
"""

SHARED = """
# everyone | steady
place = {begin}{end}
begin = Ash | Bram | Cold | Dun | Elder | Fern | Gold | Hart | Iron | Jun | King | Lang | Mill |
  North | Oak | Pen | Quarry | Rother | Stone | Thorn | Under | Vale | West | Yar | Amber | Birk |
  Crow | Drake | Ember | Fox | Grim | Hazel
end = ford | bury | ton | mouth | wick | dale | ham | bridge | field | worth | stead | haven | gate
  | combe | well | minster | ness | burgh | cliff | moor
who = {first} {last}
first = Ada | Bruno | Clara | Dev | Edith | Femi | Greta | Hugo | Ines | Jonah | Kira | Leon | Mabel
  | Noor | Otto | Petra | Quinn | Rosa | Stefan | Tess | Umar | Vera | Wade | Yara | Zeno
last = {root}{tail}
root = Adler | Barn | Carl | Dal | Ebb | Fair | Gar | Hol | Iver | Jar | Kel | Lind | Mar | Nor |
  Oster | Pal | Rad | Sand | Tor | Ul | Vas | Wal | Brook | Cress | Hather | Lock
tail = son | ley | man | berg | ström | well | ova | wood | ini | feldt | ard | more | by | quist |
  ham
day = on Monday | on Tuesday | on Wednesday | on Thursday | on Friday | this week | this weekend |
  next month | after all | again | overnight | in {month}
month = January | February | March | April | May | June | July | August | September | October |
  November | December
many = {n} | two | three | four | five | a dozen | hundreds of | scores of | {n}0
"""

TOPICS = """
# football | 6
club = Rovers | United | Athletic | Wanderers | Albion | City | Town | Rangers
- {place} {club} beat {place} {club} [2/3/4]-[0/1] with late goal by {last} | Striker {who} signs
  for {place} {club} | {place} {club} manager {last} sacked after {many} defeats | Penalty drama
  sends {place} {club} into cup final {day} | Goalkeeper {who} out for {n} weeks with knee injury |
  Derby between {place} {club} and {place} {club} ends in draw | Midfielder {last} scores hat-trick
  as {place} {club} climb the league
# tennis | 3
- {who} reaches {place} Open semi-final in straight sets | Top seed {last} knocked out of {place}
  Open by {who} | {who} wins tie-break thriller at {place} tennis tournament | Teenage qualifier
  {who} serves {n} aces to beat {last} | Tennis star {last} withdraws from {place} with wrist injury
  | Rain stops play at {place} Open as {last} leads by a set
# cycling race | 2
- {who} wins mountain stage to {place} in breakaway | {last} keeps yellow jersey after sprint in
  {place} | Crash near {place} ends tour for {who} and {many} riders | Peloton splits in crosswinds
  before {place} {day} | Time trial specialist {last} fastest on {n} km stage to {place} | Climber
  {who} attacks on final pass above {place}
# elections | 6
- {who} wins mayoral election in {place} by {n} votes | Voters in {place} go to the polls {day} |
  Opposition leader {last} calls for early election | Recount in {place} after {n} ballots go
  missing | Candidate {who} leads polls by {n} points before election | Turnout in {place} lowest in
  {n} years | Coalition talks between {last} and {last} collapse {day}
# parliament | 5
law = housing | fishing | pension | transport | education | data protection | water | energy
- Parliament passes {law} bill of {who} after {n}-hour debate | Minister {last} defends {law} reform
  {day} | {law} minister {who} resigns over leaked memo | Lawmakers reject {last} amendment to {law}
  bill by {n} votes | Committee to question minister {last} on {law} bill {day} | Government of
  {last} delays {law} law until {month}
# interest rates | 4
- Central bank raises interest rates by {n} basis points {day} | Inflation falls to {n}-month low,
  {who} of central bank says | Governor {last} signals rate cut in {month} | Mortgage rates in
  {place} climb again as inflation stays high | Central bank holds interest rates {day}, says
  governor {last} | Prices in {place} rise faster than wages for {n}th month, inflation report shows
  | Bank governor {who} warns of inflation
# shares | 4
firm = {last} Motors | {place} Foods | {last} & Sons | {place} Steel | {last} Pharma | {place}
  Airways | {last} Textiles | {place} Energy
- Shares in {firm} fall {n}% after profit warning | {firm} to buy {firm} for {n} million | {firm}
  profits jump {n}% in third quarter | Stock market closes higher as {firm} shares rally | {firm}
  cuts dividend and {many} jobs | Investors vote against merger of {firm} and {firm} | Chief
  executive {who} leaves {firm} {day}
# strikes | 4
staff = train drivers | nurses | teachers | bus drivers | dockers | postal workers | refuse
  collectors | cabin crew
- {staff} in {place} walk out over pay {day} | Union in {place} calls {n}-day strike of {staff} |
  {place} {staff} end strike after {n}% pay offer | Talks between union and employers of {staff}
  break down {day} | Strike by {staff} brings {place} to a halt | Union leader {last} says {staff}
  will strike until {month}
# rail | 4
- Signal failure at {place} delays {many} trains {day} | New rail line between {place} and {place}
  opens in {month} | Train derails near {place}, {n} passengers unhurt | Commuters from {place} face
  {n} days without trains | High-speed rail link to {place} delayed until {month} | Rail fares in
  {place} rise by {n}% {day} | Night train from {place} to {place} returns after {n} years
# roads | 3
- Motorway near {place} closed after lorry fire | Roadworks at {place} to last {n} weeks | {n}-mile
  queue on motorway near {place} {day} | {place} council plans toll for lorries | Cyclists and
  drivers clash over {place} bus lane | Bridge at {place} closed to traffic after cracks found |
  Speed limit cut to {n} on road between {place} and {place}
# flood | 4
- River bursts banks at {place} and floods {many} homes | Flood warnings for {place} and {place}
  {day} | Residents of {place} evacuated by boat as water rises | Storm {first} brings {n} mm of
  rain to {place} | Flood defences at {place} overwhelmed {day} | Clean-up begins in {place} after
  worst floods in {n} years
# wildfire | 3
- Wildfire near {place} burns {n} square miles of forest | Firefighters battle blaze in hills above
  {place} {day} | {many} families flee wildfire at {place} | Smoke from wildfires closes schools in
  {place} | Heatwave and wind fan forest fire near {place} | Helicopters drop water on {place}
  wildfire {day}
# heat and snow | 3
- Heatwave: {place} records hottest {month} in {n} years | Snow closes {many} schools around {place}
  | Temperatures to reach {n} degrees in {place} {day} | Black ice causes {many} falls in {place} |
  Forecasters expect frost and fog in {place} {day} | First snow of the winter falls on {place} |
  Drought order for {place} as reservoirs drop to {n}%
# court | 5
crime = fraud | burglary | bribery | blackmail | arson | forgery | perjury | smuggling
- {who} jailed for {n} years for {crime} | Jury finds {last} guilty of {crime} in {place} | {crime}
  trial of former mayor {last} opens in {place} | Judge dismisses {crime} case against {who} | Court
  of appeal overturns {crime} conviction of {last} | Witness in {crime} trial of {who} changes her
  statement
# police | 5
- Police in {place} hunt man who stole {many} bicycles | {many} arrested after raid in {place} {day}
  | Police appeal for witnesses to robbery at {place} jewellers | Missing {first} {last}, {n}, found
  safe near {place} | Detectives find {n} stolen paintings in {place} cellar | Police officer hurt
  in chase through {place} | Thieves take cash machine from {place} petrol station
# hospital | 4
- Hospital in {place} cancels {many} operations {day} | Waiting times at {place} hospital reach {n}
  hours | New children's ward opens at {place} hospital | Doctors at {place} hospital warn of
  shortage of beds | Patients treated in corridors at {place} hospital | {place} hospital to close
  maternity unit in {month}
# vaccine and virus | 4
ill = flu | measles | norovirus | whooping cough | bird flu | hepatitis
- {ill} outbreak at {place} school, {n} pupils ill | Vaccine against {ill} shows promise in trial of
  {n}00 people | Health officials urge vaccination after {many} {ill} cases in {place} | {ill} virus
  spreads to {place} | Clinic in {place} offers free {ill} vaccine {day} | Scientists link {ill}
  virus to poultry near {place}
# school | 4
- {place} school bans mobile phones {day} | Exam results: {place} school best in region | Teachers
  in {place} short of {n} colleagues | Head teacher {who} to leave {place} school after {n} years |
  Pupils of {place} school protest against exam reform | Primary schools in {place} to offer free
  lunches from {month}
# housing | 4
- House prices in {place} rise {n}% in a year | {place} council approves {n}00 new homes | Tenants
  in {place} fight rent rise of {n}% | Developer {last} drops plan for tower block in {place} |
  Rents in {place} highest outside capital | Empty houses in {place} to be sold for {n} crowns
# space | 3
planet = Mars | the moon | Venus | Jupiter | a comet | an asteroid | Saturn
- {place} probe sends first pictures of {planet} {day} | Rocket to {planet} launches from {place}
  after {n} delays | Astronaut {who} returns after {n}0 days in orbit | Telescope near {place} finds
  water on {planet} | Satellite built in {place} reaches orbit {day} | Astronomer {who} spots {many}
  new moons around {planet}
# dig | 3
find = Roman villa | Viking ship | Bronze Age tomb | medieval well | hoard of {n} coins | mosaic
  floor | stone circle
- Archaeologists find {find} under {place} car park | {find} discovered by dog walker near {place} |
  {find} from {place} goes on show at museum | Dig at {place} reveals {find} {n} feet down | Metal
  detectorist {who} unearths {find} near {place}
# film | 4
kind = thriller | comedy | western | musical | documentary | horror film | romance
- {who} to star in {kind} set in {place} | Director {last} wins best film prize for {kind} | {kind}
  with {who} breaks box office record | Cinema in {place} shows {kind} of {last} for {n}th week |
  Film festival in {place} opens with {kind} {day} | Review: {last} shines in slow {kind}
# music | 4
- {who} cancels {place} concert because of sore throat | Band from {place} tops charts with debut
  album | Orchestra of {place} names {last} as conductor | Singer {who} announces tour with {n}
  concerts | Festival in {place} sells out in {n} minutes | Pianist {last} wins {place} music prize
  {day}
# animals | 3
beast = wolf | otter | beaver | stork | seal | lynx | wild boar | sea eagle
- {beast} seen in {place} for first time in {n} years | Escaped {beast} caught in {place} garden
  {day} | {place} zoo welcomes baby {beast} | Farmers near {place} call for cull of {beast} |
  Rangers release {n} {beast} cubs near {place} | Injured {beast} nursed back to health in {place}
# energy | 3
- Wind farm off {place} to power {n}000 homes | {place} villagers protest against solar park | Power
  cut leaves {n}000 homes in {place} in the dark | Nuclear plant at {place} shut down for repairs
  {day} | Electricity bills in {place} to rise by {n}% in {month} | {place} to heat homes with water
  from old mine
# food | 3
dish = sourdough | plum cake | blue cheese | smoked eel | honey | cider | pumpkin soup | rye bread
- {dish} from {place} wins national food prize | Recipe: {who}'s {dish} with {dish} | Supermarkets
  recall {dish} from {place} | Chef {last} opens restaurant in old {place} mill | {place} bakery
  queues for {dish} {day} | Why {place} has the best {dish}
"""
