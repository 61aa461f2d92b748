/** Finds misspelt settings in the environment. */
import { SETTINGS } from '../config.ts';
import { isNear } from '../errors/edit-distance.ts';

/**
 * Returns one sentence for each name in `environment` that looks like a misspelt setting, because such names would otherwise be
 * ignored silently. The sentences never contain values.
 */
export function misspelt(environment: Readonly<Record<string, string | undefined>>): string[] {
  const names = Object.keys(SETTINGS);
  return Object.keys(environment)
    .filter((given) => environment[given]?.trim() && !names.includes(given) && !SET_BY_NPM.test(given))
    .filter((given) => given.length <= MAX_NAME_LENGTH)
    .flatMap((given) => {
      const written = given.toUpperCase().replaceAll('-', '_');
      const begun = names.filter((name) => name.startsWith(`${written}_`));
      const near = names.find((name) => isNear(written, name, name.length < 10 ? 1 : 2));
      const meant = near ?? (begun.length === 1 ? begun[0] : undefined);
      return meant === undefined ? [] : [`${given} is not a setting and is ignored: did you mean ${meant}?`];
    });
}

const MAX_NAME_LENGTH = 40;
/** Names that npm sets for the scripts that it runs (npm, "scripts", Environment). */
const SET_BY_NPM = /^(NODE$|npm_)/;
