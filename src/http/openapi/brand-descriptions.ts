/** Descriptions of the fields in answers about the brand and saved blocks. */

/** By name, or by `Schema.name`, as in descriptions.ts. */
export const BRAND_DESCRIPTIONS = {
  block: 'The block.',
  block_name: 'What the block is called.',
  blocks: 'The saved blocks.',
  brand: 'The brand.',
  button_shape: 'The corners of buttons.',
  colours: 'Up to six colours such as #1d5b46; the first is that of buttons and links.',
  heading_font: 'Font of headings.',
  logo_picture_id: 'Id of the picture that is the logo; null when there is none.',
  'PostBrandSaveBody.logo_picture_id': 'Id of the picture that is the logo; 0 for none.',
  logo_url: 'Address of the logo for mails; null when there is none.',
  'SavedBlock.json_code': "A document in MJML's JSON form whose body has the block alone.",
  text_font: 'Font of texts and buttons.',
  'Brand.updated_at': 'When it was changed, UTC; null if never.',
};
