/** A button on every block of code. It says for two seconds that it has worked. */
export function addCopyButtons(): void {
  for (const block of document.querySelectorAll('.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', () => {
      void navigator.clipboard.writeText(block.querySelector('code')?.textContent ?? '').then(
        () => say(button, 'Copied'),
        () => say(button, 'Select it by hand'),
      );
    });
    block.append(button);
  }
}

function say(button: HTMLButtonElement, text: string): void {
  button.textContent = text;
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 2000);
}
