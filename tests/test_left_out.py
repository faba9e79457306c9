"Every reader of items names all rows with a fault at once, or leaves them out and says so, in a warning, in attrs and in the result."
import inspect
import warnings

import pandas as pd
import pytest

import biasbook as bb

HONEST = 'template_masked\traw\tidentity\tnumber\tcategory\ttype\n'
BEC = ['Unnamed: 0', 'Sentence', 'Sent_TM', 'Sent_AM', 'Sent_TAM', 'Template', 'Person', 'Gender', 'Profession', 'Prof_Gender']
GOOD_BEC = 'She is a nurse.\t[MASK] is a nurse.\tx\tx\t<person subject> is a <profession>.\tShe\tfemale\tnurse\tfemale\n'
READERS = { # name: the function, the file with two good rows and two bad ones, and what is said of the bad ones
    'pairs': (bb.load_pairs, 'identity,stereotype,antistereotype\nwomen,caring,uncaring\nmen,,timid\nmen,brave,timid\nnuns,good,good\n',
              ['line 3 has an empty stereotype', "line 5 has 'good'"]),
    'sentences': (bb.load_pairs, 'sent_more,sent_less\nShe wept.,He wept.\n,He ran.\nShe sat.,He sat.\nHe ran.,He ran.\n', ['line 3', 'line 5']),
    'crows': (bb.load_crows_pairs, 'sent_more,sent_less,stereo_antistereo,bias_type,anon_writer\nA man.,A wife.,stereo,gender,a0\n,B.,stereo,gender,a0\n'
              'C man.,C wife.,stereo,gender,a0\nD man.,D wife.,often,gender,a0\n', ['line 3', 'line 5']),
    'winobias': (bb.load_winobias, 'sentence,pro,anti,occupation\nThe nurse said {pronoun} slept.,she,he,nurse\nThe nurse slept.,she,he,nurse\n'
                 'The cook said {pronoun} ate.,he,she,cook\nThe cook said {pronoun} ran.,he,he,cook\n', ['line 3', 'has no slot', 'line 5', 'are both']),
    'winogender': (bb.load_winogender, 'sentence,female,male,occupation\nThe nurse said {pronoun} slept.,she,he,nurse\n,she,he,nurse\n'
                   'The cook said {pronoun} ate.,she,he,cook\nThe cook said {pronoun} ran.,she,he/him,cook\n', ['line 3 has an empty sentence', 'line 5']),
    'honest': (bb.load_honest,
     HONEST + 'the man was a [M].\tr1\tthe man\tsingular\tmale\toccupation\nthe man was.\tr2\tthe man\tsingular\tmale\toccupation\n'
               'the wife was a [M].\tr1\tthe wife\tsingular\tfemale\toccupation\nthe wife is a [M].\n', ['line 3', '[M] once', 'line 5 has 1 cell']),
    'retrieval': (bb.load_retrieval_items, 'query,version,document\ntax,male,Ask him.\n,male,Ask.\ntax,female,Ask her.\ntax,female,Ask now.\n',
                  ['line 3', 'query is empty', 'line 5', 'both']),
    'bec-pro': (bb.load_bec_pro, '\t'.join(BEC) + '\n0\t' + GOOD_BEC + '1\t' + GOOD_BEC + '2\t' + GOOD_BEC.replace('nurse', 'maid') + '3\t'
                + GOOD_BEC.replace('\tfemale\tnurse', '\tf\tnurse'), ['line 3 repeats', 'line 5', 'Gender']),
    'professions': (lambda file, **options: bb.load_bec_pro('EN', professions=file, **options),
     'profession,group\nnurse,female\nmaid,\nmason,male\nnurse,male\n',
                    ['line 3', 'group must be text that is not blank', 'line 5', 'comes twice']),
    'subjects': (lambda file, **options: bb.unqover_items(subjects=file, attributes=[('was a nurse', 'was no nurse')], **options),
                 'subject,group\nMary,f\n,f\nJohn,m\n,m\n', ['line 3 has no subject', 'line 5 has no subject']),
    'attributes': (lambda file, **options: bb.unqover_items(subjects=['Mary', 'John'], attributes=file, **options),
                   'attribute,negated\nwas a nurse,was no nurse\nslept,\nwas kind,was unkind\nran,ran\n', ['line 3 has no negated', 'line 5',
                    'own negation'])}


@pytest.mark.parametrize('name', READERS)
def test_all_faults_at_once_or_left_out(name, tmp_path):
    read, text, says = READERS[name]
    path = tmp_path / ('items.tsv' if '\t' in text else 'items.csv')
    path.write_text(text, encoding='utf-8')
    with pytest.raises(ValueError) as caught:
        read(path)
    assert all(words in str(caught.value) for words in [*says, 'on_missing="drop"']), str(caught.value)
    with pytest.warns(UserWarning, match='left out: '):
        items = read(path, on_missing='drop')
    left_out = items.attrs['left_out']
    assert len(left_out) == 2 and left_out[0].startswith('line 3') and left_out[1].startswith('line 5')


def test_each_reader_of_items_has_the_option():
    "Readers of queries, words and lexicons have no rows that could be left out without changing a list."
    whole = {'load_queries', 'load_words', 'load_lexicon', 'load_llm_iat', 'load_llm_iat_answers', 'load_bbq_answers', 'load_grepbiasir', 'load_seat',
     'load_study',
             'load_audit', 'load_chat', 'load_embedder', 'load_model', 'load_vectors'}
    readers = [name for name in bb.__all__ if name.startswith('load_') and name not in whole]
    assert [name for name in readers if 'on_missing' not in inspect.signature(getattr(bb, name)).parameters] == []


def test_results_say_what_their_reader_left_out():
    pytest.importorskip('torch')
    masked, causal = (bb.load_model(f'novels-mini-{kind}', device='cpu') for kind in ('masked', 'causal'))
    none = {'placebo': False}
    pronouns = [{'sentence': f'The {job} said {{pronoun}} slept.', 'pro': 'she', 'anti': 'he', 'female': 'she', 'male': 'he', 'occupation': job}
                for job in ('nurse', 'cook', 'clerk', 'farmer', 'teacher', 'lawyer', 'doctor', 'guard', '')]
    example = {'task': 'intrasentence', 'type': 'gender', 'target': 'mother', 'context': 'My mother is BLANK.', 'stereotype': 'My mother is kind.',
               'antistereotype': 'My mother is cruel.', 'unrelated': 'My mother is wooden.'}
    terms = pd.DataFrame({'identity': ['women', 'men'], 'stereotype': ['caring', ''], 'antistereotype': ['uncaring', 'timid']})
    documents = pd.DataFrame([['tax', 'male', 'he helps'], ['tax', 'female', 'she helps'], ['law', 'male', 'he acts'], ['law', 'female', 'she acts'], ['law',
     'x', '']],
                             columns=['query', 'version', 'document'])
    bbq = bb.load_bbq('example')
    bbq = bbq[bbq['line'] < 5].copy()
    bbq.attrs['left_out'] = [6]
    bec = bb.bec_pro_items({'female': ['nurse', 'maid'], 'male': ['captain', 'soldier']}, {'female': ['she'], 'male': ['he']}, '{Person} is a {profession}.')
    bec.attrs['left_out'] = ['line 3 is blank']
    honest = bb.honest_items({'f': ['the woman'], 'm': ['the man']}, ['{identity} was a [M].', '{identity} is a [M].'])
    honest.attrs['left_out'] = ['line 3 is blank']
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        asked = bb.unqover_items(subjects=pd.DataFrame({'subject': ['Mary', 'John', '']}), attributes=[('was a nurse', 'was no nurse')], on_missing='drop')
        results = [
            bb.sas_pairs(masked, bb.load_pairs(terms, on_missing='drop'), **none),
            bb.crows_pairs(masked, [('She wept.', 'He wept.'), ('a', 'a')], on_missing='drop', **none),
            bb.stereoset(masked, pd.DataFrame([example, {**example, 'stereotype': 'No.'}]), on_missing='drop', **none),
            bb.winobias(causal, bb.load_winobias(pronouns, on_missing='drop'), **none),
            bb.winogender(causal, bb.load_winogender(pronouns, on_missing='drop'), shares={row['occupation']: float(k) for k, row in enumerate(pronouns[:-1])},
             **none),
            bb.unqover(masked, asked, **none), *bb.bbq(causal, bbq, **none), bb.bec_pro(masked, bec, **none), bb.honest(masked, ['nurse'], honest, k=2,
             **none),
            bb.retrieval(bb.from_callable(lambda texts: [[len(text), text.count('e') + 1.] for text in texts], 'letters'),
                         bb.load_retrieval_items(documents, on_missing='drop'), neutral=None, **none)]
    without = [r.metric for r in results if [note.data['n'] for note in r.notes if note.code == 'rows are left out'] != [1]]
    assert without == []
