/** A connection to the database that compiles and plans each statement once. */
import Database from 'better-sqlite3';

/** Matches what stands before a parameter: a comparison operator, LIMIT or OFFSET. */
const PARAMETER = /(=|<|>|\b(?:LIMIT|OFFSET))\s*(?=[?@]\w*)/gi;
/** How many texts of statements are recent. The statements of up to twice as many texts are kept; one that runs triggers takes up to 100 KB. */
const MAX_RECENT = 150;

type Read = 'rows' | 'pluck' | 'raw';

/**
 * Like `Database`, but each statement is planned once. Otherwise SQLite looks at the values of parameters after LIMIT and of
 * those with which columns are compared. If these values might influence the plan, it prepares the statement again in each
 * run, which costs more than running most of our statements (https://sqlite.org/c3ref/prepare.html). A plus before
 * the parameter, as in `d.id = +?`, prevents this without changing the result (`npm run bench:plans`). A value that the
 * condition of a partial index names must therefore stand in the text of a statement, and no text in quotes may contain
 * `= ?`.
 *
 * Compiled statements are kept and given again for the same text, because compiling one costs more than running it.
 */
export class Connection extends Database {
  /** The statements used last, by their text. The key is the text alone, because a longer key would have to be hashed anew for each use. */
  #recent = new Map<string, Partial<Record<Read, Database.Statement>>>();
  /** The statements that were recent before the present ones. A statement that is used again becomes recent again. */
  #earlier = new Map<string, Partial<Record<Read, Database.Statement>>>();

  override prepare<Parameters extends unknown[] | object = unknown[], Result = unknown>(
    text: string,
  ): ReturnType<typeof Database.prototype.prepare<Parameters, Result>>;
  override prepare(text: string): Database.Statement {
    return this.#statement(text, 'rows');
  }

  /**
   * A statement is shared by all who prepare its text. So `pluck` and `raw` return another statement instead of changing this one, and
   * `iterate` runs a new statement, since a statement can do nothing else while its rows are read. Nobody may bind values to a statement or
   * make it return big integers, since this would apply to all who share the statement.
   */
  #statement(text: string, read: Read): Database.Statement {
    const statements = this.#recent.get(text) ?? this.#remember(text);
    statements[read] ??= this.#compile(text, read);
    return statements[read];
  }

  #remember(text: string) {
    if (this.#recent.size >= MAX_RECENT) {
      this.#earlier = this.#recent;
      this.#recent = new Map();
    }
    const statements = this.#earlier.get(text) ?? {};
    this.#recent.set(text, statements);
    return statements;
  }

  #compile(text: string, read: Read): Database.Statement {
    const textWithPlus = text.replaceAll(PARAMETER, '$1 +');
    const compile = () => {
      const statement = super.prepare(textWithPlus);
      return read === 'rows' ? statement : statement[read]();
    };
    return Object.defineProperties(compile(), {
      pluck: { value: () => this.#statement(text, 'pluck') },
      raw: { value: () => this.#statement(text, 'raw') },
      iterate: { value: (...values: unknown[]) => compile().iterate(...values) },
    });
  }
}
