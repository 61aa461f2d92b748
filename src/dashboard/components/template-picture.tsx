/** How a template looks, small: the picture of a built-in one, and an own one itself. */
import { useLanguage } from '../words/index.ts';

/** It says nothing that the name beside it does not, so it can be neither reached nor read aloud. */
export function TemplatePicture({ id, image, isOwn }: { id: number; image: string; isOwn: boolean }) {
  const language = useLanguage();
  if (!isOwn) return <img class="template-picture" src={`/images/templates/${image}`} alt="" loading="lazy" />;
  return (
    <div class="template-picture" inert>
      <iframe sandbox="" src={`/templates/${id}/mail`} title={language.say('templates.looks')} loading="lazy" />
    </div>
  );
}
