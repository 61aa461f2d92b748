/** English: the brand of an account. */

export const brand = {
  'settings.brand': 'Brand',
  'settings.done.brandSaved': 'The brand was saved. New blocks and the choices in the designer have it.',
  'brand.about':
    'New blocks in the designer begin with this, and it offers these colours and fonts first. Mails that exist stay as they are.',
  'brand.logo': 'Logo',
  'brand.logo.none': 'No logo: the header shows the name of the sender',
  'brand.logo.hint': 'One of your pictures. It is best twice as wide as it is shown, which is up to 180 pixels.',
  'brand.colours': 'Colours',
  'brand.colours.hint': 'Up to six, such as #1d5b46. The first one is that of buttons and links.',
  'brand.colour': 'Colour {number}',
  'brand.text_font': 'Font of texts',
  'brand.heading_font': 'Font of headings',
  'brand.font.hint': 'Fonts that mail programs have, or replace by a similar one.',
  'brand.button_shape': 'Buttons',
  'brand.shape.square': 'Square corners',
  'brand.shape.rounded': 'Rounded corners',
  'brand.shape.pill': 'Round ends',
  'brand.sample': 'How it looks',
  'brand.sample.heading': 'A heading',
  'brand.sample.text': 'What you want to say, with a',
  'brand.sample.link': 'link',
  'brand.sample.button': 'Have a look',
} as const;
