/** Faulty values that follow from a parameter's kind, with the field error each one earns. */

import type { World } from '../support/account-records.ts';
import { type Expected, notAnEmail, notAnInteger, selected, someText, tooLong, tooShort } from './errors.ts';
import type { Parameter, Value } from './types.ts';

type FaultyValue = readonly [value: Value, text: Expected];

const UNKNOWN = '999999999';

/** The faulty values of a parameter; the first fits into a request in which every field is at fault. */
export function faultyValues(field: string, parameter: Parameter, own: World, other: World): FaultyValue[] {
  const invalid = selected(field);
  switch (parameter.kind) {
    case 'reference': {
      const others: FaultyValue[] = parameter.fixture === undefined ? [] : [[other[parameter.fixture][0], invalid]];
      return [[UNKNOWN, invalid], ...others, ['12abc', notAnInteger(field)], ['1e3', notAnInteger(field)]];
    }
    case 'shared':
      return [
        [UNKNOWN, invalid],
        ['12abc', notAnInteger(field)],
      ];
    case 'target':
      return wrongTargets(other).map((wrong) => [wrong, invalid]);
    case 'targets':
      return wrongTargets(other).map((wrong) => [[`contacts_${own.contactTypes[0]}`, wrong], invalid]);
    case 'header':
      return [
        ...lengths(field, parameter),
        ['Hello\r\nBcc: me@x.example', someText],
        ['a\u2028b', someText],
        ['a\0b', someText],
      ];
    case 'line':
    case 'text':
      return lengths(field, parameter);
    case 'email':
      return ['nobody', 'a@x.example, b@x.example', 'Ann <a@x.example>', '"a"@x.example', 'ä@x.example'].map(
        (wrong) => [wrong, notAnEmail(field)],
      );
    case 'emails':
      // The error names the bad ones.
      return [
        ['good@x.example, nobody', /nobody/],
        ['a b@x.example', /a b@x\.example/],
      ];
    case 'integer':
      return ['abc', '1.5', '1e3'].map((wrong) => [wrong, notAnInteger(field)]);
    case 'flag':
    case 'choice':
      return [
        ['2', invalid],
        ['nonsense', invalid],
      ];
    default:
      return [];
  }
}

function wrongTargets(other: World): string[] {
  const others = [`contacts_${other.contactTypes[0]}`, `segments_${other.segments[0]}`];
  return [`contacts_${UNKNOWN}`, ...others, 'contacts_', 'contacts_1x', 'lists_1', '1'];
}

function lengths(field: string, { minimum = 1, maximum }: Parameter): FaultyValue[] {
  const short: FaultyValue[] = minimum > 1 ? [['x'.repeat(minimum - 1), tooShort(field, minimum)]] : [];
  const long: FaultyValue[] = maximum ? [['x'.repeat(maximum + 1), tooLong(field, maximum)]] : [];
  return [...long, ...short];
}

/** Spellings of an identifier that find nothing. */
export function malformedIdentifiers(known: string): Value[] {
  return [
    ...['12abc', '1e3', '9007199254740993', '0', '-1', '0x1', '１', 'null', '../1', "1' OR '1'='1"],
    ...[`${known}abc`, ` ${known}`, `${known} `, `${known}.0`, `+${known}`, `${known}\0`],
    [known, known],
    ['1', '2'],
  ];
}

/** An identifier of the right form that no record has. */
export function unknownIdentifier(parameter: Parameter): string {
  return parameter.utr === true ? '00000000-0000-4000-8000-000000000000' : UNKNOWN;
}
