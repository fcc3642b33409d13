"""What axe-core finds on a page: each of its rules over all of the page, and the contrast of texts once for each look that a text has.

Before axe weighs its first text it puts every element of the page in its place, in order to know what lies over and under the text: half of
its time. It is shown those elements whose boxes touch a text that it weighs, with all that they are in: no other can lie over or under it.

Contrast is nine tenths of axe's time on a page with thousands of cells. It follows from what a browser computed: the text's own colour and
size, and what is painted behind it. Texts that have the same of all that are a group, whichever rows they stand in, and axe weighs one of
them. Where axe gives no verdict on that one (it has no letters, or something lies over it), it weighs all the others of the group too.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from selenium.webdriver import Chrome

__all__ = ["findings"]

_AXE: Final = (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")

_GROUPS: Final = r"""
const NOTHING = {backgroundColor: 'rgba(0, 0, 0, 0)', backgroundImage: 'none', opacity: '1', filter: 'none', mixBlendMode: 'normal',
  clipPath: 'none', maskImage: 'none'};
const SEEN = /^(IMG|CANVAS|VIDEO|OBJECT|PICTURE|svg)$/;
const paint = (one) => {
  const style = getComputedStyle(one);
  return Object.keys(NOTHING).filter((name) => style[name] !== NOTHING[name]).map((name) => name + style[name]).join();
};
const grounds = new Map();
const ground = (one) => {  // what is painted by an element, all those that it is in, and what may lie over or under its texts
  if (!one) return '';
  if (!grounds.has(one)) {
    const placed = [...one.children].filter((child) => getComputedStyle(child).position !== 'static');
    const beside = placed.map((child) => paint(child) + (SEEN.test(child.tagName) ? child.tagName : '')).filter(Boolean);
    const pseudo = ['::before', '::after'].map((name) => [name, getComputedStyle(one, name)])
      .filter(([, style]) => style.content !== 'none' && style.backgroundColor !== NOTHING.backgroundColor)
      .map(([name, style]) => name + style.backgroundColor + style.backgroundImage);
    const own = [paint(one), ...new Set(beside), ...pseudo].filter(Boolean).join('+');
    grounds.set(one, ground(one.parentElement) + (own && '/' + own));
  }
  return grounds.get(one);
};
const unseen = new Map();
const clipped = (one) => {  // away whole, as texts for screen readers are: axe leaves them out too
  if (!one) return false;
  if (!unseen.has(one)) unseen.set(one, getComputedStyle(one).clipPath === 'inset(50%)' || clipped(one.parentElement));
  return unseen.get(one);
};
const TEXT = ['color', 'fontSize', 'fontWeight', 'textShadow', 'webkitTextFillColor', 'webkitTextStroke', 'fill', 'visibility', 'cursor'];
const groups = new Map();
const modal = document.querySelector('dialog:modal');
for (const one of document.querySelectorAll('body, body *')) {
  const texts = [...one.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  if ((!texts.length && !one.matches('input, select, textarea')) || !one.checkVisibility() || clipped(one)) continue;
  if (modal && !modal.contains(one)) continue;  // axe leaves out what nobody can reach now
  const style = getComputedStyle(one);
  const look = [ground(one), one.disabled, one.ariaDisabled, ...TEXT.map((name) => style[name])].join('|');
  if (!groups.has(look)) groups.set(look, []);
  groups.get(look).push(one);
}
const worded = (one) => [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && /[\p{L}\p{N}]{2}/u.test(node.data));
for (const all of groups.values()) all.sort((one, other) => worded(other) - worded(one));  // axe has no verdict on a sign
"""

_NEAR: Final = """
const MARK = 'data-weighed';
const plain = ({left, top, right, bottom}) => ({left, top, right, bottom});  // what a browser gives is slow to read
const wide = ({left, top, right, bottom}) => left < right && top < bottom;
const boxes = (one) => {  // a text may stand out of its element
  const range = document.createRange();
  range.selectNodeContents(one);
  return [plain(one.getBoundingClientRect()), plain(range.getBoundingClientRect())].filter(wide);
};
// axe keeps no place for what has no width or no height either
const places = [...document.querySelectorAll('body, body *')].map((one) => [one, plain(one.getBoundingClientRect())])
  .filter(([, place]) => wide(place));
const BAND = 64;
const bands = (place) => Array.from({length: Math.floor((place.bottom + 1) / BAND) - Math.floor((place.top - 1) / BAND) + 1},
  (_, n) => Math.floor((place.top - 1) / BAND) + n);
const blockOf = (one) => /^inline|^contents/.test(getComputedStyle(one).display) ? blockOf(one.parentElement) : one;
let weighed;
const near = () => {
  // those of axe's other rule that compares colours (link-in-text-block), which it compares with the block that they are in
  const links = [...document.querySelectorAll('a[href], [role="link"]')].filter((one) => axe.commons.dom.isInTextBlock(one));
  weighed = new Set([...document.querySelectorAll(`[${MARK}]`), ...links]);
  const texts = new Map();
  for (const text of new Set([...weighed, ...links.map((one) => blockOf(one.parentElement))]))
    for (const box of boxes(text)) for (const band of bands(box)) {
      if (!texts.has(band)) texts.set(band, []);
      texts.get(band).push(box);
    }
  const touch = (place) => (box) => place.left <= box.right + 1 && place.right >= box.left - 1  // by a pixel more, as axe rounds
    && place.top <= box.bottom + 1 && place.bottom >= box.top - 1;
  const found = new Set();
  for (const [one, place] of places)
    if (bands(place).some((band) => texts.get(band)?.some(touch(place))))
      for (let each = one; each && !found.has(each); each = each.parentElement) found.add(each);
  return found;
};
document.createTreeWalker = (root, what) => {  // axe calls it for this alone
  const found = near();
  const filter = (one) => found.has(one) ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT;
  return Document.prototype.createTreeWalker.call(document, root, what, filter);
};
"""

_RUN: Final = (
    """
const [colours, done] = arguments;
(async () => {"""
    + _GROUPS
    + _NEAR
    + """
  const mark = (all) => {
    for (const one of document.querySelectorAll(`[${MARK}]`)) one.removeAttribute(MARK);
    for (const one of all) one.setAttribute(MARK, '');
  };
  axe.configure({rules: [{id: 'color-contrast', selector: `[${MARK}]`}]});
  const decided = new Set();
  const reporter = (raw, options, done) => {
    for (const rule of raw.filter((one) => /^color-contrast$|^link-in-text-block$/.test(one.id))) {
      for (const found of [...rule.passes, ...rule.violations, ...rule.incomplete])
        if (!weighed.has(found.node.element)) throw new Error(`${rule.id} weighed what it was not shown: ${found.node.source}`);
      if (rule.id === 'color-contrast') for (const found of [...rule.passes, ...rule.violations]) decided.add(found.node.element);
    }
    axe.getReporter('v1')(raw, options, done);
  };
  const run = (more) => axe.run(document, {resultTypes: ['violations'], reporter, ...more});
  mark([...groups.values()].map((all) => all[0]));
  const first = await run(colours ? {runOnly: ['color-contrast', 'link-in-text-block']} : {});
  const left = [...groups.values()].filter((all) => !decided.has(all[0])).flatMap((all) => all.slice(1))
    .filter((one) => !one.textContent || one.textContent.trim().length > 1);  // one character is never a violation
  mark(left);
  const second = left.length ? (await run({runOnly: ['color-contrast']})).violations : [];
  mark([]);
  delete document.createTreeWalker;
  done([...first.violations, ...second].map((one) => [one.id, one.nodes.map((node) => [node.html, node.failureSummary ?? ''])]));
})().catch((error) => done([['no verdict', [[String(error), '']]]]));
"""
)


def findings(browser: Chrome, *, colours: bool = False) -> list[str]:
    """A line for each of the first three elements of each rule, or each about colours, that the page as it is shown now breaks."""
    browser.set_script_timeout(120)
    browser.execute_script(f"if (!window.axe) {{ {_AXE} }}")
    found = browser.execute_async_script(_RUN, colours)
    return [f"{rule}: {html[:160]} {summary[:200]}" for rule, nodes in found for html, summary in nodes[:3]]
