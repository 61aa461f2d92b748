/** What the requests of the design page share: their parameters and body, and the check of short texts. */

/** A request of the design page. */
export interface Call {
  Params: { token: string; id: string };
  Querystring: {
    /** The language of the page. */
    lang?: unknown;
    /** The name of the uploaded file. */
    name?: string;
  };
  Body:
    | {
        mjml?: unknown;
        html?: unknown;
        /** The version of the stored content that a save replaces. Without it, any version is replaced. */
        version?: unknown;
        email?: unknown;
        name?: unknown;
        subject?: unknown;
        preheader?: unknown;
      }
    | undefined;
}

/** The maximum length of a subject, a preview text and the name of a block. */
const MAX_NAME = 255;

/** Returns true if a text is one line and not too long for a name or a subject. */
export function isLine(text: string): boolean {
  return text.length <= MAX_NAME && !/[\p{Cc}\u2028\u2029]/u.test(text);
}
