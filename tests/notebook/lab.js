// JupyterLab's own parts around one notebook: document manager, notebook, outputs and themes, with the kernels of the server
// that this page comes from. "?path=example.ipynb" opens a notebook, "&kernel" starts its kernel. test_lab.mjs drives it.
import '@jupyterlab/notebook/style/index.js';
import {CodeMirrorEditorFactory, CodeMirrorMimeTypeService, EditorExtensionRegistry, EditorLanguageRegistry, jupyterTheme, ybinding} from '@jupyterlab/codemirror';
import {DocumentManager} from '@jupyterlab/docmanager';
import {DocumentRegistry} from '@jupyterlab/docregistry';
import {NotebookActions, NotebookModelFactory, NotebookPanel, NotebookWidgetFactory, StaticNotebook} from '@jupyterlab/notebook';
import {RenderMimeRegistry, standardRendererFactories} from '@jupyterlab/rendermime';
import {ServerConnection, ServiceManager} from '@jupyterlab/services';
import {Widget} from '@lumino/widgets';

const query = new URLSearchParams(location.search);
const baseUrl = `${location.origin}/`;
const manager = new ServiceManager({serverSettings: ServerConnection.makeSettings({baseUrl, wsUrl: baseUrl.replace('http', 'ws')})});
const languages = new EditorLanguageRegistry();
const extensions = new EditorExtensionRegistry();
const {createImmutableExtension} = EditorExtensionRegistry;
extensions.addExtension({name: 'theme', factory: () => createImmutableExtension(jupyterTheme)});
extensions.addExtension({name: 'shared', factory: ({model}) => createImmutableExtension(ybinding({ytext: model.sharedModel.ysource}))});
const windowingMode = query.get('windowing') ?? StaticNotebook.defaultNotebookConfig.windowingMode;
const registry = new DocumentRegistry();
registry.addModelFactory(new NotebookModelFactory({}));
registry.addWidgetFactory(new NotebookWidgetFactory({
    name: 'Notebook', modelName: 'notebook', fileTypes: ['notebook'], preferKernel: true, canStartKernel: true,
    rendermime: new RenderMimeRegistry({initialFactories: standardRendererFactories}),
    contentFactory: new NotebookPanel.ContentFactory({editorFactory: new CodeMirrorEditorFactory({extensions, languages}).newInlineEditor}),
    mimeTypeService: new CodeMirrorMimeTypeService(languages),
    notebookConfig: {...StaticNotebook.defaultNotebookConfig, windowingMode},
}));
const documents = new DocumentManager({registry, manager, opener: {open: () => {}, opened: {connect: () => {}}}});

// As JupyterLab's theme manager changes it.
const theme = async name => {
    const before = document.querySelector('link[data-theme]');
    const link = Object.assign(document.createElement('link'), {rel: 'stylesheet', href: `${name}.css`});
    link.dataset.theme = name;
    await new Promise(done => {
        link.onload = done;
        document.head.append(link);
    });
    before?.remove();
    document.body.dataset.jpThemeLight = String(name === 'light');
};

await theme(query.get('theme') ?? 'light');
await manager.ready;
const withKernel = query.has('kernel');
const panel = documents.open(query.get('path'), 'Notebook', withKernel ? undefined : {shouldStart: false});
panel.id = 'notebook';
Widget.attach(panel, document.body);
await panel.context.ready;
if (withKernel) await panel.sessionContext.ready;
const of = index => {
    panel.content.activeCellIndex = index;
    return [panel.content, panel.sessionContext];
};
window.lab = {
    theme,
    run: index => NotebookActions.run(...of(index)),
    runAll: () => NotebookActions.runAll(...of(0)),
    edit: (index, source) => panel.content.model.cells.get(index).sharedModel.setSource(source),
    remove: index => NotebookActions.deleteCells(of(index)[0]),
    scroll: top => { panel.node.querySelector('.jp-WindowedPanel-outer').scrollTop = top; },
    save: () => panel.context.save(),
};
