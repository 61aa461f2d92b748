/** English: the brand of an account. */

export const brand = {
  'settings.brand': 'Brand',
  'settings.done.brandSaved': 'The brand was saved. New blocks in the designer use it.',
  'brand.about':
    'New blocks in the designer use your brand, and its colours and fonts are offered first. Existing e-mails stay as they are.',
  'brand.logo': 'Logo',
  'brand.logo.none': 'No logo: the header shows the from name',
  'brand.logo.hint': 'One of your images. It is shown up to 180 pixels wide, and looks sharp if it is twice as wide.',
  'brand.colours': 'Colours',
  'brand.colours.hint': 'Up to six, such as #1d5b46. Buttons and links use the first.',
  'brand.colour': 'Colour {number}',
  'brand.text_font': 'Text font',
  'brand.heading_font': 'Heading font',
  'brand.font.hint': 'Fonts that e-mail programs have or replace with similar ones.',
  'brand.button_shape': 'Buttons',
  'brand.shape.square': 'Square corners',
  'brand.shape.rounded': 'Rounded corners',
  'brand.shape.pill': 'Fully rounded',
  'brand.sample': 'Preview',
  'brand.sample.heading': 'A heading',
  'brand.sample.text': 'What you want to say, with a',
  'brand.sample.link': 'link',
  'brand.sample.button': 'Have a look',
} as const;
