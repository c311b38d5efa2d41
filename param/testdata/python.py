#!/usr/bin/env python3
"""Writes python.json: what PyYAML and Python print and read for the values of parameters.

Run with Python 3.11 and PyYAML 6.0.3:  python3 python.py > python.json
"""
import json
import random
import sys

import yaml

random.seed(5)

WORDS = ['a', 'ab', 'hello world', '-', '- ', '-a', '--', '---', '--- a', '...', ':', 'a:', 'a: b', 'k:v', '#', 'a #b', 'a#b', ' lead', 'trail ', 'x\ny',
         'x\n\ny\n', '\n', '\n\n', 'tab\t', 'é', 'üüü', '\x00', '\x07', '"', "'", "it's", 'say "x"', 'it\'s "x"', '\\', '[a', 'a]', '{', '}', 'a,b', '*x', '&x',
         '!x', '%x', '@x', '`x', '|', '>', '?', '? a', '?a', '=', '<<', '~', 'null', 'true', 'Yes', 'off', '1', '-1', '1.5', '0x1F', '010', '1:30', '1_000',
         '2024-01-01', '2024-1-1 10:00:00', '2024-01-01T10:00:00.5Z', '.inf', '.nan', '', '\u2028', '\ufeff', '\U0001f600', '1.0e+5', 'a  b', 'a \nb', 'a\n b',
         '+1', '.5', '5.', '0b11', '/topic/name', 'http://x:80/y', "''", ' ', '  ', 'None']
LONG = ('word ' * 30).strip()
ALPHABET = list('ab cd:#-"\'\\,[]{}!&*\n\té\u2028 ')


def dump(parameters):
    root = {}
    for name, value in parameters.items():
        at = root
        *path, last = name.split('.')
        for part in path:
            at = at.setdefault(part, {})
        at[last] = value
    return yaml.dump({'/ns/node': {'ros__parameters': root}}, default_flow_style=False)


def guess(text):
    """The type and the printed form that `ros2 param set` makes of a text."""
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        value = text
    if isinstance(value, bool):
        return 'boolean', str(value)
    if isinstance(value, int) and -2**63 <= value < 2**63:
        return 'integer', str(value)
    if isinstance(value, float):
        return 'double', str(value)
    if isinstance(value, list):
        for kind, name in ((bool, 'boolean array'), (int, 'integer array'), (float, 'double array'), (str, 'string array')):
            if all(type(item) is kind for item in value):
                return name, str(value)
    if isinstance(value, str):
        return 'string', value
    return 'string', text


dumps = [{}, {'a': 1, 'b.c': 2.5, 'b.a': True, 'z': None}, {'a': [1, 2], 'b.c': ['x', ''], 'd': [], 'e.f': [0.1, 1e20], 'g': [True, False]},
         {'bytes': [b'\x01', b'A', b'\xff']}]
for word in WORDS:
    dumps.append({'s': word})
    dumps.append({'a.b.c': word + ' ' + LONG, 'a.d': LONG + word + LONG, 'a.l': [word, LONG + word]})
for _ in range(150):
    dumps.append({'s': ''.join(random.choice(ALPHABET) for _ in range(random.choice([1, 2, 3, 5, 10, 50, 100, 200])))})
for _ in range(60):
    dumps.append({'f': random.choice([random.random() * 10**random.randint(-20, 25), float(random.randint(-10**6, 10**6)), random.random()])})

texts = WORDS + ['[]', '[1, 2]', '[a, b]', '[true, false]', '[1, a]', '"5"', "'5'", '[[1], [2]]', '{a: 1}', 'a: 1', '- 1\n- 2', '1e3', '1.5e3', '1.5e+3', '1.',
                 '-0x1F', '0b101', '-010', '08', '09.5', '1__0', '_1', '+.inf', '.INF', '-.inf', '.NaN', 'NaN', 'inf', '12:30:45', '1:30.5', '-1:30', '190:20:30',
                 '0:0', '0.', '00', '0', '-0', '1,2', '!!str 5', '!!float 1', '!!int 5', '!!bool yes', 'yes # c', '# c', '[1, 2', '"a\\nb"', '99999999999999999999',
                 '9223372036854775807', '-9223372036854775808', '1e', 'e1', '.', '..', '+', '0x', '0xg', '0b', '[~]', '[1, ~]', '[1.5, 2.5]', '["a\'b", \'"\', "\\n"]']
for _ in range(300):
    texts.append(''.join(random.choice('0123456789.:_eE+-xbof') for _ in range(random.randint(1, 7))))

out = {'dumps': [], 'guesses': []}
for parameters in dumps:
    given = []
    for name, value in parameters.items():
        if name == 'bytes':
            given.append({'name': name, 'bytes': [b[0] for b in value]})
        else:
            first = value[0] if isinstance(value, list) and value else value
            given.append({'name': name, 'value': value, 'float': isinstance(first, float)})
    out['dumps'].append({'parameters': given, 'want': dump(parameters)})
for text in texts:
    if not set(text) & {'\x00', '\x07', '\ufeff', '\t'}:
        kind, printed = guess(text)
        out['guesses'].append({'text': text, 'type': kind, 'want': printed})
json.dump(out, sys.stdout, indent=0)
print()
