/** The blocks that the designer offers. Their MJML is in the account's brand and in the language of the page. */
import { legibleOn } from '../../../../../delivery/content/contrast.ts';
import { type Brand, buttonRadius } from './brand.ts';
import { say } from './page.ts';

type BlockName =
  | 'header'
  | 'hero'
  | 'text'
  | 'heading'
  | 'picture'
  | 'button'
  | 'divider'
  | 'spacer'
  | 'columns1'
  | 'columns2'
  | 'columns3'
  | 'product'
  | 'social'
  | 'video'
  | 'footer'
  | 'html';

export interface Block {
  name: BlockName;
  /** True for a section, false for an element of a column. */
  isSection: boolean;
  /** The code that the block adds to a mail. */
  mjml: string;
  /** The path of its icon in a square of 24 units. */
  icon: string;
}

/** The picture of new blocks, until the author chooses one. */
const EMPTY_PICTURE =
  'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 width=%22600%22 height=%22300%22%3E%3Crect width=%22100%25%22 height=%22100%25%22 fill=%22%23cfd6dd%22/%3E%3C/svg%3E';
/** The colour of small print. */
const GREY = '#5b6570';
/** The networks of the block with social links. The links are texts, because icons would load from other sites. */
const NETWORKS = ['Facebook', 'Instagram', 'YouTube', 'LinkedIn'];

const section = (content: string, attributes = '') =>
  `<mj-section padding="16px 0"${attributes}><mj-column>${content}</mj-column></mj-section>`;
const columns = (count: number, content: string) =>
  `<mj-section padding="16px 0">${`<mj-column>${content}</mj-column>`.repeat(count)}</mj-section>`;

/** Returns all blocks in the order in which the designer offers them: elements of columns, then sections. */
export function listBlocks(brand: Brand): Block[] {
  const { text, heading, accent, ink } = brand;
  const paragraph = (content: string, size = 16, attributes = '', colour = ink) =>
    `<mj-text font-family="${text}" font-size="${size}px" line-height="${Math.round(size * 1.5)}px" color="${colour}"${attributes}>${content}</mj-text>`;
  const headline = (content: string, size = 24, attributes = '', level = 2) =>
    `<mj-text font-family="${heading}" font-size="${size}px" line-height="${Math.round(size * 1.25)}px" font-weight="700" color="${ink}"${attributes}><h${level} style="margin:0;font-size:inherit;font-weight:inherit;line-height:inherit;">${content}</h${level}></mj-text>`;
  const button = (label: string, attributes = '') =>
    `<mj-button font-family="${text}" font-size="16px" font-weight="700" background-color="${accent}" color="${legibleOn(accent)}" border-radius="${buttonRadius(brand)}" inner-padding="12px 24px" href="https://"${attributes}>${label}</mj-button>`;
  const picture = (attributes = '') => `<mj-image src="${EMPTY_PICTURE}"${attributes}></mj-image>`;
  const sampleText = paragraph(say('designer.sample.text'));
  const networkLinks = NETWORKS.map(
    (name) => `<a href="https://" style="color:${accent};text-decoration:underline;">${name}</a>`,
  ).join(' &nbsp;·&nbsp; ');
  const smallPrint = (content: string) => paragraph(content, 13, ' align="center"', GREY);
  const quietLink = (name: string, label: string) =>
    `<a href="((${name}))" style="color:${GREY};text-decoration:underline;">${label}</a>`;
  const logo = brand.logo
    ? `<mj-image src="${brand.logo.src}" alt="${brand.logo.alt}" width="${brand.logo.width}px" align="center"></mj-image>`
    : headline('((sender_name))', 22, ' align="center"', 1);
  const byName: Record<BlockName, [isSection: boolean, mjml: string, icon: string]> = {
    header: [true, section(logo), 'M3 4h18v6H3zM6 7h5M3 14h18M3 18h18'],
    hero: [
      true,
      section(
        headline(say('designer.sample.hero'), 34, ` align="center"`, 1) +
          paragraph(say('designer.sample.heroText'), 18, ` align="center"`) +
          button(say('designer.sample.button')),
        ` background-color="${brand.soft}"`,
      ),
      'M3 4h18v16H3zM7 9h10M9 12h6M10 16h4',
    ],
    text: [false, sampleText, 'M4 6h16M4 10h16M4 14h16M4 18h9'],
    heading: [false, headline(say('designer.sample.heading')), 'M6 5v14M18 5v14M6 12h12'],
    picture: [false, picture(), 'M3 5h18v14H3zM3 16l5-5 4 4 3-3 6 5'],
    button: [false, button(say('designer.sample.button')), 'M3 8h18v8H3zM8 12h8'],
    divider: [false, `<mj-divider border-width="1px" border-color="#c9d0d6"></mj-divider>`, 'M3 12h18'],
    spacer: [false, '<mj-spacer height="24px"></mj-spacer>', 'M4 5h16M4 19h16M12 8v8'],
    columns1: [true, columns(1, sampleText), 'M5 4h14v16H5z'],
    columns2: [true, columns(2, sampleText), 'M3 4h8v16H3zM13 4h8v16h-8z'],
    columns3: [true, columns(3, sampleText), 'M3 4h5v16H3zM10 4h4v16h-4zM16 4h5v16h-5z'],
    product: [
      true,
      `<mj-section padding="16px 0"><mj-column width="40%">${picture()}</mj-column><mj-column width="60%">${
        headline(say('designer.sample.product'), 20) +
        paragraph(say('designer.sample.productText')) +
        paragraph(`<b>${say('designer.sample.price')}</b>`, 18) +
        button(say('designer.sample.buy'), ' align="left"')
      }</mj-column></mj-section>`,
      'M3 6h8v12H3zM14 7h7M14 11h7M14 15h4',
    ],
    social: [
      false,
      paragraph(networkLinks, 14, ' align="center"'),
      'M6 12a2 2 0 1 0 .1 0M18 6a2 2 0 1 0 .1 0M18 18a2 2 0 1 0 .1 0M8 11l8-4M8 13l8 4',
    ],
    video: [
      false,
      picture(' href="https://" css-class="video"') +
        paragraph(
          `<a href="https://" style="color:${accent};text-decoration:underline;">▶ ${say('designer.sample.video')}</a>`,
          16,
          ' align="center"',
        ),
      'M3 5h18v14H3zM10 9l5 3-5 3z',
    ],
    footer: [
      true,
      section(
        smallPrint(`((sender_name))<br>((sender_address))`) +
          smallPrint(say('designer.sample.why')) +
          smallPrint(
            `${quietLink('unsubscribe_preferences', say('designer.sample.unsubscribe'))} &nbsp;·&nbsp; ${quietLink('web_copy', say('designer.sample.webCopy'))}`,
          ),
      ),
      'M3 4h18M3 8h18M3 14h18v6H3zM7 17h10',
    ],
    html: [
      true,
      '<mj-raw data-html="&lt;p style=&quot;margin:16px;&quot;&gt;&lt;/p&gt;"></mj-raw>',
      'M8 7l-5 5 5 5M16 7l5 5-5 5M13 5l-2 14',
    ],
  };
  const names = Object.keys(byName).filter((name): name is BlockName => Object.hasOwn(byName, name));
  const blocks = names.map((name) => {
    const [isSection, mjml, icon] = byName[name];
    return { name, isSection, mjml, icon };
  });
  return [...blocks.filter(({ isSection }) => !isSection), ...blocks.filter(({ isSection }) => isSection)];
}
