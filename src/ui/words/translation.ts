/** The types of catalogues of texts, and of the values that a text needs. */

/** A text, or a text for each plural form. `{name}` stands for a value. */
export type Entry = string | { readonly one: string; readonly other: string };

/** A catalogue with the keys of another catalogue, and with plural forms at the same keys. */
export type Translation<Catalogue> = {
  readonly [Key in keyof Catalogue]: Catalogue[Key] extends string
    ? string
    : { readonly one: string; readonly other: string };
};

type NamesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
type NamesOf<Text> = Text extends string ? NamesIn<Text> : 'count' | NamesIn<Text[keyof Text]>;

/** The values that a text needs. The value `count` is a number and chooses the plural form. */
export type ValuesOf<Text> = { readonly [Name in NamesOf<Text>]: Name extends 'count' ? number : string | number };
