/** The types of the catalogue: which keys there are, and what a text needs to be filled with. */

/** A text, or one for each plural form. `{name}` stands for a value. */
export type Entry = string | { readonly one: string; readonly other: string };

/** A catalogue with the keys of another one, and with plural forms at the same keys. */
export type Translation<Catalogue> = {
  readonly [Key in keyof Catalogue]: Catalogue[Key] extends string
    ? string
    : { readonly one: string; readonly other: string };
};

type NamesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
type NamesOf<Text> = Text extends string ? NamesIn<Text> : 'count' | NamesIn<Text[keyof Text]>;

/** The values a text has to be filled with; `count` is a number, by which the plural form is chosen. */
export type ValuesOf<Text> = { readonly [Name in NamesOf<Text>]: Name extends 'count' ? number : string | number };
