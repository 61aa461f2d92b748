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
    .filter((name) => environment[name]?.trim() && !names.includes(name) && !SET_BY_NPM.test(name))
    .filter((name) => name.length <= MAX_NAME_LENGTH)
    .flatMap((setting) => {
      const written = setting.toUpperCase().replaceAll('-', '_');
      const begun = names.filter((name) => name.startsWith(`${written}_`));
      const near = names.find((name) => isNear(written, name, name.length < 10 ? 1 : 2));
      const meant = near ?? (begun.length === 1 ? begun[0] : undefined);
      return meant === undefined ? [] : [`${setting} is not a setting and is ignored: did you mean ${meant}?`];
    });
}

const MAX_NAME_LENGTH = 40;
/** Names that npm sets for the scripts that it runs (npm, "scripts", Environment). */
const SET_BY_NPM = /^(NODE$|npm_)/;
