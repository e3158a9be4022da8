"""What is wrong with the looks of a page, as far as rectangles say: words of pictures that are cut, or lie on others."""

# Words of a picture that stick out of it, and pairs of words of which one lies on the other. A letter's own margins are let pass.
CROWDED = """[...document.querySelectorAll('figure svg')].flatMap((svg) => {
  const frame = svg.getBoundingClientRect();
  const words = [...svg.querySelectorAll('text')].map((one) => ({text: [...one.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.data).join(''), box: one.getBoundingClientRect()}))
    .filter(({box}) => box.width > 0);
  const cut = words.filter(({box}) => box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 2 || box.bottom > frame.bottom + 2).map(({text}) => `cut: ${text}`);
  const on = ({box: a}, {box: b}) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
  const pairs = words.flatMap((one, at) => words.slice(at + 1).filter((other) => on(one, other)).map((other) => `${one.text} on ${other.text}`));
  return [...cut, ...pairs].map((what) => `${svg.getAttribute('aria-label').slice(0, 30)}: ${what}`);
})"""
