/** The banners above the content of every page: for test mode, for held sending, and for mail that waits for a sender node. */
import type { Said } from '../../errors/sentences.ts';
import type { Hold } from '../../installation/operations.ts';
import type { Viewer } from '../viewer.ts';
import { useLanguage } from '../words/index.ts';
import { Confirm } from './confirm.tsx';
import { Icon } from './icon.tsx';
import { Island } from './island.tsx';
import { Notice } from './surface.tsx';

/** How often the page checks whether mail still waits for a sender node. */
const UPDATE_MS = 5000;

/** The banner while all sending is held, or while mail waits for a sender node. Operators can release held sending. */
export function HoldBanner({ hold, viewer }: { hold: Hold; viewer: Viewer }) {
  const language = useLanguage();
  if (hold.held_reason === null)
    return hold.has_nodes ? <WaitBanner reason={hold.waits_reason} viewer={viewer} /> : null;
  return (
    <Notice tone="warn">
      <p>{language.say('home.alert.held', { reason: language.fullSentence(hold.held_reason) })}</p>
      {viewer.isOperator && hold.releasable === 1 && (
        <Confirm
          id="release-sending"
          action="/sending/release"
          label={language.say('hold.release')}
          look="primary"
          title={language.say('hold.question')}
        >
          <p>{language.say('hold.mails', { count: hold.mails })}</p>
          <p>{language.say('hold.due', { count: hold.due_single_sends })}</p>
          <p>{language.say('hold.text')}</p>
        </Confirm>
      )}
      {viewer.isOperator && hold.releasable === 0 && (
        <p>
          <a href="/settings/sending">{language.say('hold.settings')}</a>
        </p>
      )}
      {!viewer.isOperator && <p>{language.say('hold.ask')}</p>}
    </Notice>
  );
}

/**
 * The banner that says why mail waits for a sender node. While it is shown, a script exchanges its element with that of the page fetched
 * anew, so a page without a reason has an empty element.
 */
function WaitBanner({ reason, viewer }: { reason: Said | null; viewer: Viewer }) {
  const language = useLanguage();
  if (reason === null) return <div id="mail-waits" data-active="no" />;
  return (
    <Island name="live" data={{ every: UPDATE_MS, results: '#mail-waits' }}>
      <div id="mail-waits" data-active="yes">
        <Notice tone="warn">
          <p>{language.sentence(reason)}</p>
          {viewer.isOperator ? (
            <p>
              <a href="/settings/nodes">{language.say('hold.nodes')}</a>
            </p>
          ) : (
            <p>{language.say('hold.waits')}</p>
          )}
        </Notice>
      </div>
    </Island>
  );
}

/** The bar on every page in test mode. It says that no recipient gets mail, and where an operator changes that. */
export function TestModeBar({ viewer }: { viewer: Viewer }) {
  const language = useLanguage();
  return (
    <div class="test-mode">
      <Icon name="tray" />
      <strong>{language.say('testMode.title')}</strong>
      {viewer.isOperator ? (
        <a href="/settings/sending">{language.say('testMode.connect')}</a>
      ) : (
        <span>{language.say('testMode.ask')}</span>
      )}
    </div>
  );
}
