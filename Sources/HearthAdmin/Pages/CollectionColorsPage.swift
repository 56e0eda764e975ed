import DocumentModel

/// The colours of a collection's documents as a wall of swatches.
struct CollectionColorsPage: Page {
    static let template = TemplateLibrary.Name.collectionColors

    /// A swatch.
    struct Entry: Sendable {
        let chip: ColorChip
        let link: LinkView
        let field: DisplayText
    }

    var chrome: PageChrome
    private let frame: CollectionFrame
    private let entries: [Entry]
    private let count: Int
    private let orders: [Choice]

    init(_ frame: CollectionFrame) {
        self.frame = frame
        let request = frame.listing.request
        var found = frame.colors.found.elements
        if !request.keepsColorOrder {
            // Equal ones stay in the order of the documents.
            found = found.enumerated()
                .map { (order: $0.element.chip.color.paletteOrder, index: $0.offset, found: $0.element) }
                .sorted { ($0.order.hue, $0.order.darkness, $0.index) < ($1.order.hue, $1.order.darkness, $1.index) }
                .map(\.found)
        }
        count = frame.colors.found.count
        chrome = PageChrome(at: request.path.segments)
        for color in found { chrome.colors.insert(color.chip.color) }
        entries = found.map { Entry(chip: $0.chip, link: LinkView(toRowOf: $0.document), field: DisplayText($0.field)) }
        orders = [false, true].map { keeps in
            Choice(
                text: keeps ? localized("Order of the documents") : localized("Hue"),
                url: request.url { $0.keepsColorOrder = keeps },
                isCurrent: keeps == request.keepsColorOrder
            )
        }
    }

    func content(named name: String) -> Any? {
        switch name {
        case "entries": entries
        case "hasEntries": !entries.isEmpty
        case "ordersMarkup": orders.itemsMarkup(current: "true")
        case "shownColors": Counting.grouped(entries.count)
        case "allColors": count > entries.count ? Counting.grouped(count) : Absent()
        default: frame.child(named: name)
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
