/** The attribute whose value is the condition for showing an element, without `((if` and `))`. */
export const SHOW_TO = 'data-show-to';

/** The attribute whose value is the name that a user gave to an element in the designer. */
export const BLOCK_NAME = 'data-name';
