import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import { render } from 'preact';
import { applyTheme, storedTheme } from './session/theme';
import { Studio } from './studio';

applyTheme(storedTheme());
const place = document.getElementById('studio');
if (place !== null) render(<Studio />, place);
