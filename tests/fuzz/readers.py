"""The readers of the package, and the property that each of them has for every input.

A reader returns a value, or raises `ValueError` with a message that names the file, in less than MOST_SECONDS of CPU time and
with less than MOST_MIB of memory. (An extra that is not installed is an `ImportError`.) Anything else is a finding.
"""
import os
import pickle
import re
import resource
import select
import shutil
import signal
import tempfile
import time
import traceback
import warnings
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import inputs

MOST_SECONDS = 20                       # CPU time for a file of up to 1 MB
MOST_MIB = 1024                         # memory for a file of up to 1 MB
MOST_CHARACTERS = 2000                  # of a message

# An anonymous folder in memory where there is one: a run writes some hundred thousand small files.
SCRATCH = '/dev/shm' if os.path.isdir('/dev/shm') else None


# -- what is read -----------------------------------------------------------------------------------------------------

def vectors(folder, path):
    import numpy as np
    from biasbook.vectors.wordvectors import load_vectors
    v = load_vectors(path, cache=False)
    assert np.isfinite(v.vectors).all() and len(set(v.words)) == len(v.words) == len(v.vectors) > 0
    ''.join(v.words).encode()           # no word that cannot be written


def rows_as_read(folder, path):
    from biasbook.vectors.files import read_vector_rows
    for _ in read_vector_rows(path)[-1]:
        pass


def text_vectors(folder, path):
    vectors(folder, path)
    if path.stat().st_size < 10_000:
        rows_as_read(folder, path)      # the same lines, another function


def matrix_cache(folder, path):
    from biasbook.vectors.files import CacheEntry, read_cached
    kept = read_cached(CacheEntry(path, [0, 0, 0]))
    if kept:
        _, listed, rows = kept
        assert all(isinstance(word, str) for word in listed) and rows.dtype == 'float32'


def words(folder, path):
    from biasbook.stimuli.words import load_words
    assert all(isinstance(w, str) for w in load_words(path))


def queries(folder, path):
    from biasbook.stimuli.words import load_queries
    for query in load_queries(path):
        str(query)
        repr(query)


def questions(folder, path):
    from biasbook.stimuli.questions import analogy_questions
    analogy_questions(path)


def pairs(folder, path):
    from biasbook.stimuli.pairs import load_pairs
    load_pairs(path)


def templates(folder, path):
    "A template is text and not a file, so its messages need not name one."
    from biasbook.stimuli.templates import Template, template_warnings
    t = Template(path.read_bytes().decode('utf-8', 'replace'))
    template_warnings(t)
    repr(t.fill(**{slot: 'word' for slot in t.slots}))


def study(folder, path):
    from biasbook.stimuli.sentence_studies import attribute_sentences, load_study, study_lint, target_sentences
    found = load_study(path)
    repr(found)
    templates = sum(map(len, found.templates.values()))
    words = sum(map(len, [*found.targets.values(), *found.attributes.values()]))
    if templates * words < 2000:        # each template is filled with each word
        target_sentences(found)
        attribute_sentences(found)
        study_lint(found)


def study_folder(folder, path):
    study(folder, folder)


def stereoset(folder, path):
    from biasbook.stimuli.benchmarks import load_stereoset
    load_stereoset(path)


def seat(folder, path):
    from biasbook.chapters.seat import load_seat
    load_seat(path)


def crows_pairs(folder, path):
    from biasbook.stimuli.benchmarks import load_crows_pairs
    load_crows_pairs(path)


def bbq(folder, path):
    from biasbook.stimuli.bbq_items import load_bbq
    load_bbq(path, on_missing='drop')


def bbq_answers(folder, path):
    from biasbook.stimuli.bbq_items import load_bbq_answers
    load_bbq_answers(path)


def unqover(folder, path):
    "A file of subjects or of attributes; the other list is given."
    from biasbook.stimuli.unqover_items import unqover_items
    if path.name == 'subjects.csv':
        unqover_items(subjects=path, attributes='was a senator')
    else:
        unqover_items(subjects=['Mary', 'John'], attributes=path)


def bec_pro(folder, path):
    "A file of the published shape, or a list of professions."
    from biasbook.stimuli.bec_pro_items import load_bec_pro
    if path.suffix == '.csv':
        load_bec_pro('DE' if 'german' in path.name else 'EN', professions=path)
    else:
        load_bec_pro(path)


def winobias(folder, path):
    from biasbook.stimuli.coreference_items import load_winobias
    load_winobias(path)


def winogender(folder, path):
    from biasbook.stimuli.coreference_items import load_winogender
    load_winogender(path)


def retrieval(folder, path):
    "Items that are read have placebo versions."
    from biasbook.stimuli.retrieval_items import load_retrieval_items, placebo_versions
    items = load_retrieval_items(path)
    versions = list(dict.fromkeys(items['version']))
    if len(items) < 200 and len(versions) > 1:
        placebo_versions(items, ['farmer'], versions[:2])


def iat_answers(folder, path):
    "Answers that are read can be scored."
    from biasbook.chapters.implicit import read_iat_answers
    from biasbook.stimuli.implicit_items import load_llm_iat_answers
    answers = load_llm_iat_answers(path)
    for test, of_test in answers.groupby('test'):
        read_iat_answers(of_test, test)


def iat_answer(folder, path):
    "The answer of a model is text and not a file. Every answer can be read; what is in no pair is listed."
    from biasbook.stimuli.implicit_items import read_iat_answer
    text = path.read_bytes().decode('utf-8', 'replace')
    answer = read_iat_answer(text, ['office', 'home', 'ice cream'], ['julia', 'ben'])
    assert set(answer.assigned) | set(answer.missing) | set(answer.contradictory) == {'office', 'home', 'ice cream'}


def honest(folder, path):
    from biasbook.stimuli.honest_items import load_honest
    load_honest(path)


def lexicon(folder, path):
    from biasbook.stimuli.honest_items import load_lexicon
    repr(load_lexicon(path))


def audits(folder, path):
    "An audit that can be loaded can be printed, exported and compared with itself."
    from biasbook.auditing.compare import compare_audits
    from biasbook.auditing.files import audit_lines, load_audit
    from biasbook.results.tables import printable
    a = load_audit(path)
    printable('\n'.join(audit_lines(a))).encode('utf-8', 'replace')
    table = a.paper_table()
    for text in (table.to_text(), table.to_markdown(), table.to_latex(), table.to_csv(), table.to_json()):
        text.encode('utf-8')
    try:
        compare_audits(a, a).lines()
    except ValueError:
        pass                            # an audit without results cannot be compared; this error is not about a file


def configuration(folder, path):
    from biasbook.auditing.config import read_config
    read_config(path)


def store(folder, path):
    "Read all items of a store, also as vectors and as records of replies, and write one."
    from biasbook.core.store import Store
    from biasbook.embedders.cache import VectorStore
    with closing(Store(path)) as s:
        repr(s)
        for kind in s.kinds():
            s.get(s.keys(kind))
        v = VectorStore(s, {'model': 'm'})
        v.get(['a sentence', 'another'])
        v.pinned()
        v.replies()
        s.put({'new': b'value'}, 'kind')
        assert s.get(['new'])['new']


def kept_vectors(folder, path):
    from biasbook.embedders.sentencefiles import read_vectors
    read_vectors(path)


TOKENIZER = ('{"version": "1.0", "added_tokens": [], "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1, "[MASK]": 2},'
             ' "unk_token": "[UNK]"}}')


def model_folder(folder, path):
    "Everything that is read of a model before its weights."
    from biasbook.models.checkpoints import load_config, load_tokenizer, model_files, model_kind, quiet_transformers
    for name, content in (('model.safetensors', '\2\0\0\0\0\0\0\0{}'), ('tokenizer.json', TOKENIZER)):
        if not (folder / name).exists():
            (folder / name).write_text(content)
    name = folder.name
    model_files(folder, name)
    with quiet_transformers():
        model_kind(load_config(folder, name), 'auto', name)      # first, as when a model is loaded: the tokenizer trusts config.json
        if (folder / 'tokenizer_config.json').exists():
            load_tokenizer(folder, name)


def sentence_transformers(folder, path):
    from biasbook.embedders.local import sentence_model_files
    (folder / 'model.safetensors').write_bytes(b'')
    sentence_model_files(folder, folder.name)


# -- readers by name --------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Reader:
    read: Callable                      # called with the folder of the files and the path of the first one
    names: tuple                        # the names that files may have
    mutator: str                        # which of the mutators knows its structure
    max_len: int = 4096                 # bytes of an input
    names_file: bool = True             # False: what is read is no file
    needs: str = ''                     # a library of an extra


VOCABULARIES = ('vectors.json', 'vectors.words', 'tokenizer.json')

READERS = {
    'glove_text': Reader(text_vectors, ('vectors.txt',), 'vector_text'),
    'word2vec_text': Reader(text_vectors, ('vectors.vec',), 'vector_text'),
    'word2vec_binary': Reader(text_vectors, ('vectors.bin',), 'vector_binary'),
    'packed_vectors': Reader(text_vectors, ('vectors.txt.gz', 'vectors.txt.bz2', 'vectors.txt.xz', 'vectors.txt.zip', 'vectors.txt'),
                             'packed'),
    'npz': Reader(vectors, ('vectors.npz',), 'npz'),
    'npy': Reader(vectors, ('vectors.npy', *VOCABULARIES), 'npy'),
    'safetensors': Reader(vectors, ('vectors.safetensors', *VOCABULARIES), 'safetensors'),
    'matrix_cache': Reader(matrix_cache, ('entry.safetensors',), 'safetensors'),
    'words': Reader(words, ('words.txt', 'words.csv', 'words.json', 'words.yaml'), 'text'),
    'queries': Reader(queries, ('queries.txt', 'queries.csv', 'queries.json', 'queries.yaml'), 'text'),
    'questions': Reader(questions, ('questions.txt',), 'text'),
    'pairs': Reader(pairs, ('pairs.csv',), 'text'),
    'templates': Reader(templates, ('template.txt',), 'text', 512, names_file=False),
    'study': Reader(study, ('study.yaml',), 'text'),
    'study_folder': Reader(study_folder, ('templates.json', 'models_config.json', 'target_words_a.txt', 'target_words_b.txt',
                                          'attribute_words_c.txt'), 'text'),
    'stereoset': Reader(stereoset, ('stereoset.jsonl', 'stereoset.json'), 'text'),
    'seat': Reader(seat, ('seat.jsonl',), 'text'),
    'crows_pairs': Reader(crows_pairs, ('crows.csv',), 'text'),
    'bbq': Reader(bbq, ('items.jsonl', 'items.csv', 'items.tsv'), 'text'),
    'bbq_answers': Reader(bbq_answers, ('answers.jsonl',), 'text'),
    'unqover': Reader(unqover, ('subjects.csv', 'attributes.csv'), 'text'),
    'bec_pro': Reader(bec_pro, ('sentences.tsv', 'professions.csv', 'german.csv'), 'text'),
    'winobias': Reader(winobias, ('pairs.csv',), 'text'),
    'winogender': Reader(winogender, ('sentences.csv', 'all_sentences.tsv'), 'text'),
    'retrieval': Reader(retrieval, ('documents.csv',), 'text'),
    'iat_answers': Reader(iat_answers, ('answers.csv',), 'text'),
    'iat_answer': Reader(iat_answer, ('answer.txt',), 'text', 1024, names_file=False),
    'honest': Reader(honest, ('templates.tsv',), 'text'),
    'lexicon': Reader(lexicon, ('lexicon.txt', 'lexicon.tsv'), 'text'),
    'audits': Reader(audits, ('results.json',), 'text'),
    'configuration': Reader(configuration, ('audit.yaml',), 'text'),
    'store': Reader(store, ('store.sql', 'store.sqlite'), 'sql'),
    'kept_vectors': Reader(kept_vectors, ('kept.npz', 'kept.parquet'), 'npz'),
    'model_folder': Reader(model_folder, ('config.json', 'tokenizer_config.json', 'model.safetensors.index.json'), 'text',
                           needs='transformers'),
    'sentence_transformers': Reader(sentence_transformers, ('modules.json', 'config.json'), 'text', needs='sentence_transformers'),
}


# -- the property -----------------------------------------------------------------------------------------------------

@dataclass
class Finding:
    reader: str
    what: str                           # the exception, or "slow", "memory", "message"
    where: str                          # the last place in the package: file:line function
    said: str                           # the message, shortened
    data: bytes                         # the input

    @property
    def key(self):
        return self.reader, self.what, self.where


def last_place(error):
    "The innermost place of a traceback in the package, and the innermost place of all if it is in another library."
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if f'{os.sep}biasbook{os.sep}' in f.filename]
    shown = [ours[-1]] if ours else []
    if frames and frames[-1] not in shown:
        shown.append(frames[-1])
    return ' > '.join(f'{Path(f.filename).name}:{f.lineno} {f.name}' for f in shown)


def resident_mib():
    with open('/proc/self/statm') as f:
        return int(f.read().split()[1]) * resource.getpagesize() / 2**20


def most_resident_mib():
    "The largest memory of this process, since it was last forgotten."
    with open('/proc/self/status') as f:
        return int(re.search(r'VmHWM:\s*(\d+)', f.read())[1]) / 1024


def check(name, data, largest=inputs.LARGEST, used_mib=None):
    """What a reader did with an input: (Finding or None, seconds, MiB). Repeated parts are cut to `largest` bytes.

    The memory is what the process takes above `used_mib`: by default what it has now, if it takes more than it ever did."""
    reader = READERS[name]
    folder = Path(tempfile.mkdtemp(prefix='fuzzed-', dir=SCRATCH))
    try:
        content = inputs.files(data, reader.names, largest)
        if sum(map(len, content.values())) > inputs.LARGEST:
            content = inputs.files(data, reader.names, largest // len(content))      # together they may have 1 MB
        for file, raw in content.items():
            (folder / file).write_bytes(raw)
        if sum(map(len, content.values())) > inputs.LARGEST:
            return None, 0., 0.          # larger than the promise covers
        what = where = said = ''
        peak, before, start = most_resident_mib(), resident_mib(), time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                reader.read(folder, folder / next(iter(content)))
        except (ValueError, ImportError) as e:
            known = [*content, folder.name] if reader.names_file else ['']
            said = str(e)
            exact = type(e) in (ValueError, ImportError, ModuleNotFoundError) or type(e).__module__.startswith('biasbook')
            if not exact:
                what, where = type(e).__name__, last_place(e)
            elif len(said) > MOST_CHARACTERS:
                what, where = f'message of over {MOST_CHARACTERS} characters', last_place(e)
            elif type(e) is ValueError and not any(n in said for n in known):
                what, where = 'message without the file', last_place(e)
        except BaseException as e:
            if isinstance(e, (KeyboardInterrupt, SystemExit)):
                raise
            what, where, said = type(e).__name__, last_place(e), str(e)
        seconds = time.process_time() - start
        mib = 0.
        if used_mib is not None:
            mib = max(most_resident_mib() - used_mib, 0.)
        elif most_resident_mib() > peak:
            mib = most_resident_mib() - before
        if not what and seconds > MOST_SECONDS:
            what, said = 'slow', f'{seconds:.1f} s'
        if not what and mib > MOST_MIB:
            what, said = 'memory', f'{mib:.0f} MiB'
        return Finding(name, what, where, said[:300], data) if what else None, seconds, mib
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def forget_most_resident():
    "Let the largest memory of this process be what it has now. False where the system cannot."
    try:
        with open('/proc/self/clear_refs', 'w') as f:
            f.write('5')
        return True
    except OSError:
        return False


def check_each(name, inputs_of_reader, largest, most_seconds):
    """As `check` for each input, in a process of its own that is killed when an input takes more than `most_seconds`.

    The process goes on with the next input, where it can tell how much memory each input takes; a new one goes on after a kill."""
    left = list(inputs_of_reader)
    while left:
        receive, send = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(receive)
            used_mib = resident_mib()               # before the first input: what others left behind counts, too
            try:
                with os.fdopen(send, 'wb') as f:
                    for number, data in enumerate(left):
                        can_forget = forget_most_resident()
                        if number and not can_forget:
                            break
                        pickle.dump(check(name, data, largest, used_mib if can_forget else None), f)
                        f.flush()
            finally:
                os._exit(0)
        os.close(send)
        with os.fdopen(receive, 'rb', buffering=0) as f:
            answered = 0
            while answered < len(left):
                ready, _, _ = select.select([f], [], [], most_seconds)
                if not ready:
                    os.kill(child, signal.SIGKILL)
                try:
                    answer = pickle.load(f)
                except (EOFError, pickle.UnpicklingError):
                    break
                yield answer
                answered += 1
        os.waitpid(child, 0)
        if not answered or not ready:
            what = 'hang' if not ready else 'killed'
            yield Finding(name, what, '', f'nothing came back in {most_seconds} s', left[answered]), float(most_seconds), 0.
            answered += 1
        left = left[answered:]


def check_apart(name, data, largest, most_seconds):
    "As `check`, in a process of its own that is killed after `most_seconds`."
    answer, = check_each(name, [data], largest, most_seconds)
    return answer
