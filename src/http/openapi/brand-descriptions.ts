/** Descriptions of the fields in answers about saved blocks. */

/** By name, or by `Schema.name`, as in descriptions.ts. */
export const BRAND_DESCRIPTIONS = {
  block: 'The block.',
  block_name: 'What the block is called.',
  blocks: 'The saved blocks.',
  'SavedBlock.json_code': "A document in MJML's JSON form whose body has the block alone.",
};
