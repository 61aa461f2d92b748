/** The attribute of an element that only some contacts get: a condition without `((if` and `))`. */
export const SHOW_TO = 'data-show-to';
