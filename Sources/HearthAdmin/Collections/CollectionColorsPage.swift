import DocumentModel

/// The colors in a collection's documents as a palette of swatches.
struct CollectionColorsPage: Page {
    static let template = TemplateLibrary.Name.collectionColors

    /// A swatch that links to its document.
    struct Entry: ViewModel {
        let link: LinkView
        let field: DisplayText
        /// The notation of the color.
        let hex: String
        let className: String
        let isTranslucent: Bool

        fileprivate init(_ match: ColorCollector.Match) {
            link = LinkView(toRowOf: match.document)
            field = DisplayText(match.field)
            hex = match.chip.text
            className = match.chip.className
            isTranslucent = !match.chip.color.isOpaque
        }
    }

    var layout: PageLayout
    private let collection: CollectionControls
    private let liveStream: LiveStreamView?
    private let entries: [Entry]
    private let hasEntries: Bool
    /// The number of entries.
    private let shownColors: String
    /// The total number of colors; `nil` if all are shown.
    private let allColors: String?
    private let ordersMarkup: Markup

    init(_ contents: CollectionContents) {
        collection = contents.controls
        liveStream = contents.liveStream
        let request = contents.results.request
        var matches = contents.colors.matches.elements
        if !request.sortsColorsByDocument {
            // Equal colors keep the order of the documents.
            matches = matches.enumerated()
                .map { (order: $0.element.chip.color.paletteOrder, index: $0.offset, match: $0.element) }
                .sorted { ($0.order.hue, $0.order.darkness, $0.index) < ($1.order.hue, $1.order.darkness, $1.index) }
                .map(\.match)
        }
        layout = PageLayout(at: request.path.segments)
        for color in matches { layout.colors.insert(color.chip.color) }
        entries = matches.map(Entry.init)
        hasEntries = !entries.isEmpty
        let count = contents.colors.matches.count
        shownColors = NumberFormat.grouped(entries.count)
        allColors = count > entries.count ? NumberFormat.grouped(count) : nil
        ordersMarkup = [false, true].map { byDocument in
            LinkOption(
                text: byDocument ? localized("Document order") : localized("Hue"),
                url: request.url { $0.sortsColorsByDocument = byDocument },
                isCurrent: byDocument == request.sortsColorsByDocument
            )
        }
        .itemsMarkup(current: "true")
    }
}

extension HexColor {
    /// The sort key of a palette: the hue in steps of thirty degrees, then light to dark; grays come last.
    fileprivate var paletteOrder: (hue: Int, darkness: Int) {
        let (red, green, blue) = (Int(red), Int(green), Int(blue))
        let (maximum, minimum) = (max(red, green, blue), min(red, green, blue))
        let darkness = 510 - maximum - minimum
        let chroma = maximum - minimum
        // A low chroma counts as gray.
        guard chroma * 12 > maximum else { return (12, darkness) }
        let degrees: Int =
            switch maximum {
            case red: 60 * (green - blue) / chroma
            case green: 120 + 60 * (blue - red) / chroma
            default: 240 + 60 * (red - green) / chroma
            }
        return (((degrees + 375) % 360) / 30, darkness)
    }
}
