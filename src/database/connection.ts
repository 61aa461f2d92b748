/** A connection to the database that compiles and plans each statement once. */
import Database from 'better-sqlite3';

/** A parameter that something is compared with, or that limits the rows. */
const PARAMETER = /(=|<|>|\b(?:LIMIT|OFFSET))\s*(?=[?@]\w*)/gi;
/** How many texts are recent. The statements of up to twice as many are kept; one with triggers has up to 100 KB. */
const MAX_RECENT = 150;

/** How the rows of a statement are read. */
type Read = 'rows' | 'pluck' | 'raw';

/**
 * Like `Database`, but each statement is planned once. Otherwise SQLite looks at the values of parameters that columns
 * are compared with, and at that of LIMIT. If these values might influence the plan, it prepares the statement again in
 * each run, which costs more than running most of our statements (https://sqlite.org/c3ref/prepare.html). A plus before
 * the parameter, as in `d.id = +?`, prevents this without changing the result (`npm run bench:plans`). A value that the
 * condition of a partial index names must therefore stand in the text of a statement, and no text in quotes may contain
 * `= ?`.
 *
 * Compiled statements are kept and given again for the same text, because compiling one costs more than running it.
 */
export class Connection extends Database {
  /** By the text itself, because a longer key would have to be hashed anew for each use. */
  #recent = new Map<string, Partial<Record<Read, Database.Statement>>>();
  /** What was recent until the recent ones became too many. Those of them that are used again are recent again. */
  #earlier = new Map<string, Partial<Record<Read, Database.Statement>>>();

  override prepare<Parameters extends unknown[] | object = unknown[], Result = unknown>(
    text: string,
  ): ReturnType<typeof Database.prototype.prepare<Parameters, Result>>;
  override prepare(text: string): Database.Statement {
    return this.#statement(text, 'rows');
  }

  /**
   * A statement is shared by all who prepare its text. So `pluck` and `raw` give another one instead of changing this one, and `iterate`
   * runs one that is not kept, since a statement can do nothing else while its rows are read.
   * Nobody may bind values to a statement or let it return big integers, since that would hold for all.
   */
  #statement(text: string, read: Read): Database.Statement {
    const ofText = this.#recent.get(text) ?? this.#remember(text);
    ofText[read] ??= this.#compiled(text, read);
    return ofText[read];
  }

  #remember(text: string) {
    if (this.#recent.size >= MAX_RECENT) {
      this.#earlier = this.#recent;
      this.#recent = new Map();
    }
    const ofText = this.#earlier.get(text) ?? {};
    this.#recent.set(text, ofText);
    return ofText;
  }

  #compiled(text: string, read: Read): Database.Statement {
    const planned = text.replaceAll(PARAMETER, '$1 +');
    const compile = () => {
      const statement = super.prepare(planned);
      return read === 'rows' ? statement : statement[read]();
    };
    return Object.defineProperties(compile(), {
      pluck: { value: () => this.#statement(text, 'pluck') },
      raw: { value: () => this.#statement(text, 'raw') },
      iterate: { value: (...values: unknown[]) => compile().iterate(...values) },
    });
  }
}
