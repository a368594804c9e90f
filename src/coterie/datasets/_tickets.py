"""What people write to the support of Larkspur, an online shop that we made up.

The format is that of `_writing.read`. The second part of a heading is the course of a topic over
time, and how frequent it is. All texts were written for this library.
"""

SHARED = """
# everyone | steady
hello = Hi, | Hello, | Hi there, | Good morning, | Hey, | Dear support, | Good afternoon, | Hi team,
  | To whom it may concern, | Hello again,
bye = Thanks! | Thanks. | Please help. | Thank you, {name} | Best, {name} | Kind regards, {name} |
  Cheers, {name} | Can someone please get back to me? | Regards, {name} | Waiting for your reply. |
  Thx | Not impressed. | Sent from my phone
name = Maria | Tom | A. Osei | Priya | Jonas W. | Mrs Whitlock | Sam | Hannah | D. Ferreira | Luca |
  Aisha | Greg | Mei | Mr Calloway | Nadia K. | Oskar | Beth | R. Sandhu
when = yesterday | this morning | last week | on Monday | two days ago | on Friday | just now | last
  night | ten days ago | on Tuesday | over the weekend | three weeks ago
order = order LK-{ref} | my order | my last order | order no. {ref} | the order from {month}
month = January | February | March | April | May | June
thing = jacket | kettle | desk lamp | rucksack | rain coat | office chair | pair of boots | blender
  | duvet | coffee grinder | bookshelf | yoga mat | toaster | picnic blanket | set of plates | linen
  shirt | tent | wall clock | cast iron pan | scarf | suitcase | side table | wool jumper | bread
  bin
sum = {n} pounds | £{n}.99 | £{n} | {n}.50 | £{n}.49
angry = This is really frustrating. | I am very disappointed. | Not good enough. | This is the
  second time. | I have been a customer for years. | Honestly, I expected better. | Please sort this
  out. | It is quite urgent.
"""

TOPICS = """
# parcel late | steady 2.4
where = at the depot | in transit | out for delivery | at the sorting centre | on the van | at
  customs
- My parcel has been {where} since {when} and the tracking has not moved. | Where is {order}? The
  courier said it would arrive {when}. | The tracking says delivered, but there is no parcel on my
  doorstep. | The courier never rang the bell and took my parcel back to the depot. | {order} was
  meant to be here {when}, still no delivery. | I waited at home all day for the driver and nobody
  came. | The tracking number for the {thing} does not work on the courier's page. | My delivery was
  left with a neighbour I do not know. | The parcel with the {thing} is late again, it is stuck
  {where}. | Can you tell the courier to deliver to the side door? The driver could not find us
  {when}. | The delivery slot was {when} between 2 and 4, and the driver did not turn up. | Tracking
  shows my parcel {where} in the wrong town.
# arrived damaged | steady 1.2
harm = cracked | dented | broken | scratched | torn | bent | smashed to pieces | chipped
- The {thing} arrived {harm}. | The box was {harm} and so was the {thing} inside. | One part of the
  {thing} is {harm}, can I get a replacement? | I opened the package {when} and the {thing} is
  {harm}, photos attached. | The {thing} came {harm}, there was no padding in the box at all. | A
  leg of the {thing} is {harm}; please send a spare part. | The glass is {harm} and there are
  splinters in the packaging. | Second {thing} in a row that arrives {harm}. | The packaging was wet
  and the {thing} is stained and {harm}. | I would like a replacement for the {harm} {thing}, not a
  voucher. | The corner of the {thing} is {harm}, see the pictures.
# refund missing | steady 1.7
- I sent the {thing} back {when} and still have no refund. | When will I get the refund of {sum} for
  {order}? | The refund for the {thing} has not reached my bank account. | You confirmed the return
  {when}, but the money is not back on my card. | It has been {n} days since the return and no
  refund of {sum}. | I was promised a refund {when}; my bank has seen nothing. | Only {sum} were
  refunded for {order}, the rest is missing. | Please refund the {sum} to my card, not as store
  credit. | The return was received at your warehouse {when}, where is my money? | My refund went to
  an old bank account that is closed.
# charged twice | steady 1.3
- I was charged twice for {order}. | My card statement shows two payments of {sum}. | There is a
  charge of {sum} on my credit card that I do not recognise. | The invoice for {order} says {sum},
  but my card was charged more. | I paid by card {when} and the payment was taken two times. |
  Please send me an invoice with VAT for {order}. | The amount on the invoice is wrong, the discount
  is missing. | You debited {sum} {when} although the payment had failed. | I need a corrected
  invoice, our company address is missing. | The payment page gave an error, but my bank shows the
  charge of {sum}. | Two identical charges on my statement, both for {sum}.
# cannot log in | steady 1.5
- I cannot log in, the password reset email never arrives. | The reset link says it has expired
  after two minutes. | My account is locked after too many attempts to log in. | I forgot my
  password and no longer have the old email address. | The login page says my password is wrong, but
  I changed it {when}. | The security code for the login is never sent to my phone. | How do I
  change the email address of my account? | I am logged out of my account every time I open the
  site. | It says there is no account with my email, but I ordered {when}. | Two-step login does not
  accept the code. | Someone else logged in to my account {when}, I got an alert. | The password
  rules are impossible, it rejects every password.
# size exchange | steady 1.2
cloth = boots | trousers | sandals | gloves | jeans | walking shoes | slippers | shorts | leggings |
  trainers
size = small | medium | large | size 38 | size 42 | size 10 | extra large | extra small
- The {cloth} are too small, can I exchange them for {size}? | I ordered {size} but the {cloth} fit
  like {size}. | Please exchange the {cloth} for {size}, I have not worn them. | How does the
  exchange work? The {cloth} are too tight at the waist. | Is the size chart for the {cloth} right?
  I am usually {size}. | The legs of the {cloth} are far too long in {size}. | I would like to swap
  the {cloth} for another colour, same size. | The return label is missing, I want to exchange the
  {cloth} for {size}. | The {cloth} are too wide, do you have a narrower fit? | Exchange for {size}
  please, the tags are still on the {cloth}.
# cancel membership | steady 1
- I want to cancel my membership before it renews in {month}. | How do I cancel the Larkspur Plus
  subscription? | My membership was renewed {when} although I had cancelled it. | Please stop the
  automatic renewal of my subscription. | I signed up for the free trial and cannot find where to
  cancel. | You raised the membership fee to {sum} a year without asking. | The subscription page
  has no button to cancel. | I never agreed to a Plus membership, please end it. | Downgrade my
  membership from Plus to the free plan, please. | What happens to my member points when I cancel
  the subscription?
# back in stock | steady 0.8
- When will the {thing} be back in stock? | Is the {thing} available in green? | The {thing} has
  been sold out since {when}, will there be more? | Does the {thing} come with a spare lid? | How
  heavy is the {thing}, and can it go in the dishwasher? | I asked to be notified when the {thing}
  is in stock and heard nothing. | What are the measurements of the {thing}? | Is the {thing} in the
  picture the same as the one in the shop in town? | Can I reserve the {thing}? The page says only
  two left in stock. | Which material is the {thing} made of? | Do you still sell the {thing} that
  was in the spring catalogue?
# gift card | fading 2.4
- The code on my gift card is not accepted at the checkout. | I got a gift card for Christmas and
  the balance shows zero. | Can I use two gift cards for one order? | My aunt sent me a gift voucher
  and the code is unreadable. | The gift card of {sum} was activated, but the checkout says invalid
  code. | How long is a Christmas gift card valid? | I scratched off the code of the gift card too
  hard. | I paid with a gift card {when} and the rest of the balance has gone. | The email with the
  gift voucher went to the wrong person. | Please move the balance of my gift card to my account. |
  The gift card I bought for my brother never arrived by email.
# app crashes | late 7
phone = Pixel | iPhone | Galaxy | old tablet | Fairphone | new phone
- The app crashes on my {phone} since the update. | After update 4.2 the app closes as soon as I
  open the basket. | The new app freezes on the start screen of my {phone}. | The app shows a white
  page after the update {when}. | I reinstalled the app {n} times and it still crashes. | Since the
  new version the app logs an error and quits. | The update of the app deleted my wish list. | The
  app on my {phone} is unusable since version 4.2, it hangs when I search. | Please bring back the
  old version of the app. | Scanning a barcode makes the app crash on my {phone}. | The app drains
  the battery of my {phone} since the update {when}.
# change of address | growing 0.7
- I have moved, please change the delivery address of {order}. | I entered the wrong house number
  for {order}. | Can you send {order} to my office address instead? | My old address is still
  printed on the label. | The checkout does not accept my new postcode. | How do I add a second
  delivery address? | Please update my address, I moved {when}. | {order} is going to my old flat,
  can you redirect it? | The form cuts off my street name after {n} letters. | Your site says my
  postcode does not exist, it is a new street.
"""

ODD = """
# (none) | steady
- Is this the bakery on Mill Road? | asdf asdf test | My cat walked over the keyboard. lkjhgf |
  Congratulations!!! You have won a yacht, click hxxp to claim | Who composed your hold music? It is
  wonderful. | Do you sponsor village cricket teams? | I am writing a novel about a warehouse; may I
  visit? | Wrong number, sorry | Unsubscribe | Lorem ipsum dolor sit amet | Would you like to buy
  four hundred metric tonnes of sunflower oil? | Your logo looks like my late dentist | Happy
  birthday Grandma!!! | Can penguins be shipped | 42 | I only wanted to say that the lady at the
  counter in Leeds was kind to my father | The zodiac advises against parcels today | Ceci est un
  essai | What is the weather like at your end? | Please ignore my previous eleven messages
"""

# which channels a topic comes by: email, chat, phone, app
CHANNELS = {
    "parcel late": (4, 3, 3, 1),
    "arrived damaged": (6, 2, 1, 1),
    "refund missing": (5, 1, 4, 1),
    "charged twice": (4, 1, 5, 0.5),
    "cannot log in": (3, 6, 2, 0.5),
    "size exchange": (4, 4, 1, 1),
    "cancel membership": (6, 2, 2, 0.5),
    "back in stock": (1, 6, 1, 1),
    "gift card": (3, 3, 3, 0.5),
    "app crashes": (1, 1, 0.5, 8),
    "change of address": (2, 5, 2, 1),
    "(none)": (3, 2, 1, 1),
}
