/** The types of the catalogue: its keys, and the values that each text needs. */

/** A text, or one for each plural form. `{name}` stands for a value. */
export type Entry = string | { readonly one: string; readonly other: string };

/** A catalogue with the same keys as another one, and with plural forms at the same keys. */
export type Translation<Catalogue> = {
  readonly [Key in keyof Catalogue]: Catalogue[Key] extends string
    ? string
    : { readonly one: string; readonly other: string };
};

type NamesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
type NamesOf<Text> = Text extends string ? NamesIn<Text> : 'count' | NamesIn<Text[keyof Text]>;

/** The values that a text needs; `count` is a number, which chooses the plural form. */
export type ValuesOf<Text> = { readonly [Name in NamesOf<Text>]: Name extends 'count' ? number : string | number };
