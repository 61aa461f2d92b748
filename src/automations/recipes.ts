/** Recipes: automations to start from, each with its trigger and its mails, written in each language. */
import { PREFERENCES_LINK } from '../delivery/content/footer.ts';
import { escapeHtml, PREFERENCES, WEB_COPY } from '../delivery/content/merge.ts';
import type { LanguageCode } from '../languages.ts';

export const RECIPES = ['welcome', 'win_back', 'birthday'] as const;
export type RecipeName = (typeof RECIPES)[number];

/** What contacts read in a mail, in one language. The subject and the paragraphs may have merge tags. */
interface RecipeTexts {
  subject: string;
  preheader: string;
  /** Plain text. */
  paragraphs: readonly string[];
}

interface RecipeMail {
  waiting_type: 'instantly' | 'days';
  /** The number of days; 1 for a mail at once. */
  waiting_period: number;
  texts: Readonly<Record<LanguageCode, RecipeTexts>>;
}

interface Recipe {
  /** The event by which contacts enter; empty: they enter by joining the list or segment. */
  trigger_event: string;
  /** 1: contacts exit when they leave the list or segment. */
  exit_criteria: 0 | 1;
  mails: readonly RecipeMail[];
}

const WELCOME: Recipe = {
  trigger_event: '',
  exit_criteria: 0,
  mails: [
    {
      waiting_type: 'instantly',
      waiting_period: 1,
      texts: {
        en: {
          subject: 'Welcome, ((first_name|and thank you for joining us))',
          preheader: 'What you can expect from us, in half a minute.',
          paragraphs: [
            'Hello ((first_name|and welcome)),',
            'Thank you for joining us. From now on you hear from us when there is something worth your time, and not more often.',
            'You can answer each of our mails. Your answer reaches us, and we read it.',
            'It is good to have you here.',
          ],
        },
        de: {
          subject: 'Willkommen, ((first_name|und danke für Ihre Anmeldung))',
          preheader: 'Was Sie von uns erwarten können, in einer halben Minute.',
          paragraphs: [
            'Hallo ((first_name|und herzlich willkommen)),',
            'danke für Ihre Anmeldung. Ab jetzt hören Sie von uns, wenn es etwas gibt, das Ihre Zeit wert ist, und nicht öfter.',
            'Sie können auf jede unserer Mails antworten. Ihre Antwort kommt bei uns an, und wir lesen sie.',
            'Schön, dass Sie da sind.',
          ],
        },
      },
    },
    {
      waiting_type: 'days',
      waiting_period: 3,
      texts: {
        en: {
          subject: 'May we ask you one question?',
          preheader: 'One sentence from you helps us to write what you like to read.',
          paragraphs: [
            'Hello ((first_name|again)),',
            'You have been with us for a few days now, and we would like to know you a little better.',
            'What brought you to us, and what would you like to read about? Just answer this mail. One sentence is plenty.',
            'Thank you.',
          ],
        },
        de: {
          subject: 'Dürfen wir Sie etwas fragen?',
          preheader: 'Ein Satz von Ihnen hilft uns, über das zu schreiben, was Sie gern lesen.',
          paragraphs: [
            'Hallo ((first_name|noch einmal)),',
            'Sie sind jetzt ein paar Tage dabei, und wir würden Sie gern etwas besser kennenlernen.',
            'Was hat Sie zu uns geführt, und worüber möchten Sie lesen? Antworten Sie einfach auf diese Mail. Ein Satz genügt.',
            'Vielen Dank.',
          ],
        },
      },
    },
  ],
};

const WIN_BACK: Recipe = {
  trigger_event: '',
  exit_criteria: 1,
  mails: [
    {
      waiting_type: 'instantly',
      waiting_period: 1,
      texts: {
        en: {
          subject: 'Are we still writing about the right things?',
          preheader: 'It has been quiet between us. Tell us what you would like to read.',
          paragraphs: [
            'Hello ((first_name|there)),',
            'It has been a while since we heard from you. Perhaps we wrote about the wrong things, or at the wrong time.',
            'What would you like to hear from us? Answer this mail with a word or two, and we will keep it in mind.',
            'And if you no longer want our mails, the link below unsubscribes you at once. No hard feelings.',
          ],
        },
        de: {
          subject: 'Schreiben wir noch über das Richtige?',
          preheader: 'Es ist still geworden. Sagen Sie uns, was Sie gern lesen würden.',
          paragraphs: [
            'Hallo ((first_name|und guten Tag)),',
            'wir haben länger nichts von Ihnen gehört. Vielleicht haben wir über das Falsche geschrieben, oder zur falschen Zeit.',
            'Was würden Sie gern von uns lesen? Antworten Sie auf diese Mail mit ein, zwei Worten, und wir denken daran.',
            'Und wenn Sie unsere Mails nicht mehr möchten: Der Link am Ende meldet Sie sofort ab. Wir nehmen es nicht übel.',
          ],
        },
      },
    },
    {
      waiting_type: 'days',
      waiting_period: 7,
      texts: {
        en: {
          subject: 'Shall we stay in touch?',
          preheader: 'One word if you stay, one click if you would rather go.',
          paragraphs: [
            'Hello ((first_name|again)),',
            'A week ago we asked whether our mails are still right for you. We would be glad to keep you.',
            'If you would like to stay, just answer “yes”. If not, the link below unsubscribes you at once.',
            'Either way, thank you for reading us.',
          ],
        },
        de: {
          subject: 'Bleiben wir in Kontakt?',
          preheader: 'Ein Wort, wenn Sie bleiben, ein Klick, wenn nicht.',
          paragraphs: [
            'Hallo ((first_name|noch einmal)),',
            'vor einer Woche haben wir gefragt, ob unsere Mails noch zu Ihnen passen. Wir würden uns freuen, wenn Sie bleiben.',
            'Wenn Sie bleiben möchten, antworten Sie einfach mit „Ja“. Wenn nicht, meldet der Link am Ende Sie sofort ab.',
            'So oder so: Danke, dass Sie uns gelesen haben.',
          ],
        },
      },
    },
  ],
};

const BIRTHDAY: Recipe = {
  trigger_event: 'birthday',
  exit_criteria: 0,
  mails: [
    {
      waiting_type: 'instantly',
      waiting_period: 1,
      texts: {
        en: {
          subject: 'Happy birthday, ((first_name|and all the best))!',
          preheader: 'Our best wishes for your day.',
          paragraphs: [
            'Dear ((first_name|reader)),',
            'Today is your day, and we did not want to let it pass without a word.',
            'We wish you a happy birthday and a good year, with time for everything that matters to you.',
            'With our best wishes,',
          ],
        },
        de: {
          subject: 'Alles Gute zum Geburtstag, ((first_name|und einen schönen Tag))!',
          preheader: 'Unsere besten Wünsche für Ihren Tag.',
          paragraphs: [
            'Hallo ((first_name|und herzlichen Glückwunsch)),',
            'heute ist Ihr Tag, und den wollten wir nicht ohne ein Wort vergehen lassen.',
            'Wir wünschen Ihnen alles Gute zum Geburtstag und ein gutes Jahr, mit Zeit für alles, was Ihnen wichtig ist.',
            'Mit den besten Wünschen',
          ],
        },
      },
    },
  ],
};

export const RECIPE_BY_NAME: Readonly<Record<RecipeName, Recipe>> = {
  welcome: WELCOME,
  win_back: WIN_BACK,
  birthday: BIRTHDAY,
};

/** The texts at the end of each mail. */
const FOOTER: Readonly<Record<LanguageCode, { why: string; webCopy: string }>> = {
  en: {
    why: 'You get this mail because you signed up for it.',
    webCopy: 'View in the browser',
  },
  de: {
    why: 'Sie erhalten diese Mail, weil Sie sich dafür angemeldet haben.',
    webCopy: 'Im Browser ansehen',
  },
};

/** How a mail looks: fonts as font stacks, and the logo, whose `alt` and `src` are not yet escaped. */
interface Look {
  logo: { src: string; alt: string; width: number } | null;
  text_font: string;
  heading_font: string;
}

const INK = '#1b2129';
const GREY = '#5b6570';

/** Returns a mail of a recipe as MJML that the designer can edit: the logo or the sender's name, the letter, and the footer. */
export function recipeMjml(language: LanguageCode, { paragraphs }: RecipeTexts, look: Look): string {
  const text = (content: string, size: number, colour: string, more = '') =>
    `<mj-text font-family="${look.text_font}" font-size="${size}px" line-height="1.6" color="${colour}"${more}>${content}</mj-text>`;
  const section = (content: string) => `<mj-section padding="16px 0"><mj-column>${content}</mj-column></mj-section>`;
  const quietLink = (tag: string, label: string) =>
    `<a href="((${tag}))" style="color:${GREY};text-decoration:underline;">${label}</a>`;
  const { why, webCopy } = FOOTER[language];
  const head =
    look.logo === null
      ? `<mj-text font-family="${look.heading_font}" font-size="22px" font-weight="700" color="${INK}">((sender_name))</mj-text>`
      : `<mj-image src="${escapeHtml(look.logo.src)}" alt="${escapeHtml(look.logo.alt)}" width="${look.logo.width}px" align="left"></mj-image>`;
  const letter = [...paragraphs, '((sender_name))']
    .map((content) => `<p style="margin:0 0 16px;">${content}</p>`)
    .join('');
  const footer = [
    '((sender_name))<br>((sender_address))',
    why,
    `${quietLink(PREFERENCES, PREFERENCES_LINK[language])} &nbsp;·&nbsp; ${quietLink(WEB_COPY, webCopy)}`,
  ];
  return `<mjml lang="${language}"><mj-body width="600px">${section(head)}${section(text(letter, 16, INK))}${section(
    footer.map((content) => text(content, 13, GREY)).join(''),
  )}</mj-body></mjml>`;
}
