// SPDX-License-Identifier: Apache-2.0
// What pages do besides that `tutti web` serves: they hear of new rows, say so and show them, and compare two runs that
// are chosen.

class Live {
  constructor() {
    this.data = JSON.parse(document.getElementById('live').textContent);
    this.words = document.getElementById('news-words');
    this.isPaused = false;
    this.heard = null; // what the last event said
    this.wanted = null; // the mark of what is there, where it is not what is shown
    this.tried = null; // a wanted mark for which the page was loaded, and was the same as before
    this.timer = null;
    this.isLoading = false;
    this.next = 0; // when it may be loaded again
    this.pause = button('Pause', () => this.setPaused(!this.isPaused));
    this.pause.id = 'pause';
    this.words.after(this.pause);
    document.addEventListener('visibilitychange', () => this.listen());
    document.addEventListener('change', () => this.showChosen());
    this.listen();
    this.showChosen();
  }

  say(words) {
    if (this.words.textContent !== words) this.words.textContent = words;
  }

  // A page that nobody sees asks for nothing: browsers keep few connections, and the machine may be measuring.
  listen() {
    this.source?.close();
    this.source = null;
    if (document.hidden) return;
    this.source = new EventSource(this.data.events);
    this.source.onmessage = (event) => this.hear(JSON.parse(event.data));
    this.source.onerror = () => {
      const isOver = this.source.readyState === EventSource.CLOSED;
      this.say(isOver ? 'Not live: tutti web refuses. Too many pages are open, or it was started anew; ' +
                        'then the address that it printed is another one.'
                      : 'tutti web does not answer; this page tries again.');
    };
  }

  hear({mark, words, trouble}) {
    this.heard = {words, trouble};
    this.wanted = mark === this.data.mark || mark === this.tried ? null : mark;
    this.tell();
    this.plan();
  }

  tell() {
    if (!this.heard) return;
    const {words, trouble} = this.heard;
    if (trouble) this.say(trouble);
    else if (this.wanted === null) this.say(`Live: ${words}.`);
    else this.say(this.isPaused ? `New: ${words}. Paused.` : `New: ${words}.`);
  }

  setPaused(isPaused) {
    this.isPaused = isPaused;
    this.pause.textContent = isPaused ? 'Go on' : 'Pause';
    this.pause.setAttribute('aria-pressed', String(isPaused));
    this.tell();
    this.plan();
  }

  // Loads in a while; not while the reader drags.
  plan() {
    clearTimeout(this.timer);
    if (this.wanted === null || this.isPaused || this.isLoading || document.hidden) return;
    const isBusy = document.querySelector('.selection:not([hidden])') !== null;
    const pause = Math.max(this.next - Date.now(), isBusy ? 500 : 0);
    this.timer = setTimeout(() => isBusy ? this.plan() : this.load(), pause);
  }

  async load() {
    const begun = Date.now();
    this.isLoading = true;
    const before = this.data.mark;
    const wanted = this.wanted;
    const [isWell, type, text] =
      await fetch(location.pathname + location.search, {cache: 'no-store', credentials: 'omit'})
        .then(async (answer) => [answer.ok, answer.headers.get('content-type') ?? '', await answer.text()])
        .catch(() => [false, '', 'nothing; this page tries again']);
    if (type.startsWith('text/html')) this.show(text);
    else this.say(`tutti web answers ${text}.`);
    this.isLoading = false;
    // Loading once more would show the same again.
    if (isWell && type.startsWith('text/html') && this.data.mark === before && this.wanted === wanted) {
      this.tried = wanted;
      this.wanted = null;
      this.tell();
    }
    // Making a page takes the machine's time: at most a tenth of it.
    this.next = Date.now() + Math.max(2000, 10 * (Date.now() - begun));
    this.plan();
  }

  // The same page, as it is now, with what the reader has chosen.
  show(html) {
    const page = new DOMParser().parseFromString(html, 'text/html');
    const live = page.getElementById('live');
    if (!live) return;
    const choices = contents.choices();
    const chosen = this.chosen();
    const focus = placeOfFocus();
    const [left, top] = [scrollX, scrollY];
    for (const selector of ['.where', 'main', '#data'])
      document.querySelector(selector).replaceWith(document.adoptNode(page.querySelector(selector)));
    contents.fill();
    contents.choose(choices);
    for (const box of document.querySelectorAll('.choice')) box.checked = chosen.includes(box.value);
    this.showChosen();
    focusAt(focus);
    scrollTo(left, top);
    this.data.mark = JSON.parse(live.textContent).mark;
    if (this.wanted === this.data.mark) this.wanted = null;
    this.tell();
  }

  // --- two runs to compare

  chosen() {
    return [...document.querySelectorAll('.choice:checked')].map((box) => box.value);
  }

  // What came first is compared with.
  showChosen() {
    const link = document.getElementById('compare');
    if (!link) return;
    const chosen = this.chosen().sort((a, b) => a - b);
    const isReady = chosen.length === 2;
    link.setAttribute('aria-disabled', String(!isReady));
    if (isReady) link.href = `${link.dataset.address}/${chosen.join('/')}`;
    else link.removeAttribute('href');
    document.getElementById('chosen').textContent = isReady ? `How run ${chosen[1]} stands to run ${chosen[0]}.`
      : chosen.length < 2 ? `Choose two runs to compare${chosen.length === 1 ? '; one is chosen' : ''}.`
                          : `Choose two runs to compare; ${chosen.length} are chosen.`;
  }
}

// Where the keyboard is: what is called the same, and its number among these.
function focusable() {
  return [...document.querySelectorAll('a, button, input, canvas, summary, [tabindex]')];
}
function nameOfControl(control) {
  return [control.tagName, control.id, control.ariaLabel ?? control.textContent].join(' ');
}
function placeOfFocus() {
  const control = document.activeElement;
  if (!document.querySelector('main').contains(control)) return null;
  const name = nameOfControl(control);
  return {name, number: focusable().filter((other) => nameOfControl(other) === name).indexOf(control),
          selection: control.type === 'search' ? [control.selectionStart, control.selectionEnd] : null};
}
function focusAt(place) {
  if (place === null) return;
  const control = focusable().filter((other) => nameOfControl(other) === place.name)[place.number];
  control?.focus({preventScroll: true});
  if (place.selection) control?.setSelectionRange(...place.selection);
}

const live = new Live();
