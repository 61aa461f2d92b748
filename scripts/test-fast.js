/**
 * The fast part of the tests, `npm run test:fast`: units and routes, each file in under three seconds. It answers within a minute whether
 * a change is on its way; `npm test` runs everything.
 */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';

/** Files, and folders with all that is in them. */
const FAST = [
  'test/api/health.test.ts',
  'test/api/places-body.test.ts',
  'test/api/places.test.ts',
  'test/api/sender-checks.test.ts',
  'test/api/single-send-tests.test.ts',
  'test/audience/contacts',
  'test/audience/import',
  'test/audience/search',
  'test/audience/segments/rule-sql.test.ts',
  'test/audience/segments/rules.test.ts',
  'test/config.test.ts',
  'test/dashboard/compose-parts.test.ts',
  'test/dashboard/frame.test.tsx',
  'test/dashboard/walk/screens.test.ts',
  'test/database/accounts.test.ts',
  'test/database/places.test.ts',
  'test/database/templates.test.ts',
  'test/delivery/content/links.test.ts',
  'test/delivery/content/merge.test.ts',
  'test/delivery/feedback/classify.test.ts',
  'test/delivery/feedback/parse-bounce.test.ts',
  'test/delivery/links',
  'test/delivery/mime/dkim.test.ts',
  'test/delivery/mime/header-fields.test.ts',
  'test/delivery/mime/mail-form.test.ts',
  'test/delivery/queue/automation-waits.test.ts',
  'test/delivery/transport/smtp/commands.test.ts',
  'test/delivery/transport/smtp/failover.test.ts',
  'test/delivery/transport/smtp/helo.test.ts',
  'test/delivery/transport/smtp/parts.test.ts',
  'test/delivery/transport/smtp/pipelining.test.ts',
  'test/delivery/transport/smtp/pool.test.ts',
  'test/delivery/transport/smtp/replies.test.ts',
  'test/delivery/transport/smtp/session',
  'test/http/account-share.test.ts',
  'test/http/callers.test.ts',
  'test/http/envelope.test.ts',
  'test/pages/pages.test.ts',
  'test/pictures/read-picture.test.ts',
  'test/reply-kind.test.ts',
  'test/scripts/places.test.ts',
  'test/sentences.test.ts',
  'test/single-sends/compiled-drafts.test.ts',
  'test/single-sends/schedule.test.ts',
  'test/state-owners.test.ts',
  'test/structure.test.ts',
  'test/users/second-factor.test.ts',
  'test/users/throttle.test.ts',
];

const all = globSync('test/**/*.test.{ts,tsx}');
const unknown = FAST.filter((fast) => !all.some((file) => file === fast || file.startsWith(`${fast}/`)));
if (unknown.length > 0) throw new Error(`scripts/test-fast.js names what there is not: ${unknown.join(', ')}`);
const files = all.filter((file) => FAST.some((fast) => file === fast || file.startsWith(`${fast}/`)));
const { status } = spawnSync('npx', ['tap', ...process.argv.slice(2), ...files], { stdio: 'inherit' });
process.exitCode = status ?? 1;
