import DocumentModel

/// The colors in a collection's documents as a palette of swatches.
struct CollectionColorsPage: Page {
    static let template = TemplateLibrary.Name.collectionColors

    /// A swatch that links to its document.
    struct Entry: Sendable {
        let chip: ColorChip
        let link: LinkView
        let field: DisplayText
    }

    var layout: PageLayout
    private let model: CollectionViewModel
    private let entries: [Entry]
    private let count: Int
    private let orders: [LinkOption]

    init(_ model: CollectionViewModel) {
        self.model = model
        let request = model.results.request
        var matches = model.colors.matches.elements
        if !request.sortsColorsByDocument {
            // Equal colors keep the order of the documents.
            matches = matches.enumerated()
                .map { (order: $0.element.chip.color.paletteOrder, index: $0.offset, match: $0.element) }
                .sorted { ($0.order.hue, $0.order.darkness, $0.index) < ($1.order.hue, $1.order.darkness, $1.index) }
                .map(\.match)
        }
        count = model.colors.matches.count
        layout = PageLayout(at: request.path.segments)
        for color in matches { layout.colors.insert(color.chip.color) }
        entries = matches.map { Entry(chip: $0.chip, link: LinkView(toRowOf: $0.document), field: DisplayText($0.field)) }
        orders = [false, true].map { byDocument in
            LinkOption(
                text: byDocument ? localized("Document order") : localized("Hue"),
                url: request.url { $0.sortsColorsByDocument = byDocument },
                isCurrent: byDocument == request.sortsColorsByDocument
            )
        }
    }

    func content(named name: String) -> Any? {
        switch name {
        case "entries": entries
        case "hasEntries": !entries.isEmpty
        case "ordersMarkup": orders.itemsMarkup(current: "true")
        case "shownColors": NumberFormat.grouped(entries.count)
        case "allColors": count > entries.count ? NumberFormat.grouped(count) : Absent()
        default: model.child(named: name)
        }
    }
}

extension CollectionColorsPage.Entry: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "chip": chip
        case "link": link
        case "field": field
        default: nil
        }
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
