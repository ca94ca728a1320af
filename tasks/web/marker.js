(async (limit, patience) => {
  // Wait until the document has been still for a moment, then mark what is not shown, and return text and markup.
  await new Promise((done) => {
    let timer = setTimeout(done, 200);
    new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(done, 200); })
      .observe(document, { subtree: true, childList: true, characterData: true });
    setTimeout(done, patience);
  });
  const clear = (colour) => /^rgba\(.*, 0\)$/.test(colour) || colour === "transparent";
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.backgroundImage !== "none") return "";
      if (!clear(style.backgroundColor)) return style.backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };
  const ownText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const unseen = (element) => {
    const style = getComputedStyle(element);
    if (style.display === "contents") return false;
    if (!element.checkVisibility({ opacityProperty: true, contentVisibilityAuto: false })) return true;
    if (style.visibility !== "visible") {
      return ![...element.querySelectorAll("*")].some((inner) => getComputedStyle(inner).visibility === "visible");
    }
    const box = element.getBoundingClientRect();
    if (box.width && box.height && (box.right + scrollX <= 0 || box.bottom + scrollY <= 0)) return true;
    if (style.overflow !== "visible" && (box.width <= 1 || box.height <= 1)) return true;
    if (/inset\((50|100)%/.test(style.clipPath) || /^rect\((0|1)px, (0|1)px, (0|1)px, (0|1)px\)$/.test(style.clip)) return true;
    if (!ownText(element)) return false;
    return parseFloat(style.fontSize) < 3 || clear(style.color) || style.color === behind(element);
  };
  const marked = [...document.body.querySelectorAll("*")].slice(0, 60000)
    .filter((element) => (element.textContent.trim() || element.tagName === "IMG") && unseen(element));
  for (const element of marked) {
    element.setAttribute("data-agentworld-hidden", "");
    element.style.setProperty("display", "none", "important");
  }
  return JSON.stringify({
    text: document.body.innerText.slice(0, limit),
    html: document.documentElement.outerHTML.slice(0, limit * 8),
  });
})(LIMIT, PATIENCE)
