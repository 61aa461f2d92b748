/** The attribute of an element that only some contacts get: a condition without `((if` and `))`. */
export const SHOW_TO = 'data-show-to';

/** The attribute with the name that its owner gave to an element in the designer. */
export const BLOCK_NAME = 'data-name';
