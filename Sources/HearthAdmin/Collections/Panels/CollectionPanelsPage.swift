import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// A collection as panels side by side: the documents of the page, and the fields of the selected one.
struct CollectionPanelsPage: Page {
    static let template = TemplateLibrary.Name.collectionPanels

    var layout: PageLayout
    private let collection: CollectionControls
    private let documentsMarkup: Markup
    private let hasDocuments: Bool
    private let panel: DocumentPanel?
    private let liveStream: LiveStreamView?

    /// - Parameters:
    ///   - panel: The panel of the selected document; `nil` if none is selected.
    ///   - rows: Its fields.
    ///   - liveStream: The stream of its changes.
    init(
        _ contents: CollectionContents,
        panel: DocumentPanel? = nil,
        rows: FieldRowList? = nil,
        liveStream: LiveStreamURL? = nil
    ) {
        let request = contents.results.request
        collection = contents.controls
        self.panel = panel
        self.liveStream = liveStream.map(LiveStreamView.init)
        documentsMarkup = contents.results.entries.map { entry in
            let path: DocumentPath =
                switch entry {
                case .document(let document): document.path
                case .missing(let path): path
                }
            let link = LinkView(
                url: request.url { $0.document = path.id },
                text: DisplayText(path.id.key.string.truncatingMiddle(toScalars: 60))
            )
            return NavigationLink(link: link, isCurrent: path.id == request.document)
        }
        .itemsMarkup(current: "true")
        hasDocuments = !contents.results.entries.isEmpty
        layout = PageLayout(at: request.path.segments)
        guard let rows else { return }
        layout.colors = rows.values.colors
        layout.scriptlessRules = rows.rows.foldRules
    }
}

/// The panel of a document beside the others of its collection.
struct DocumentPanel: ViewModel {
    private let link: LinkView
    /// `nil` for a document that does not exist or cannot be read.
    private let header: DocumentHeader?
    private let fields: DocumentFields?
    private let subcollections: SubcollectionList

    /// - Parameters:
    ///   - document: The document; `nil` if it does not exist or cannot be read.
    ///   - rows: Its fields.
    ///   - page: The page with the panel.
    init(
        of path: DocumentPath,
        _ document: Document?,
        rows: FieldRowList?,
        subcollections: SubcollectionList,
        on page: ReturnURL,
        now: Timestamp
    ) {
        link = LinkView(url: AdminURL.document(path), text: DisplayText(path.id.key.string))
        header = document.map { DocumentHeader($0, view: .fields, page: page, now: now) }
        fields = rows.map(DocumentFields.init)
        self.subcollections = subcollections
    }
}
