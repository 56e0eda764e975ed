import DocumentModel
import StrictJSON

/// A collection as a map: a dot for each geo point in its documents, and the same places as a list.
struct CollectionMapPage: Page {
    static let template = TemplateLibrary.Name.collectionMap

    /// A line of the list.
    struct Entry: Sendable {
        let link: LinkView
        let field: DisplayText
        let place: PlaceView
    }

    var chrome: PageChrome
    private let navigation: CollectionNavigation
    private let map: MapView?
    private let entries: [Entry]
    /// How many places are shown of how many.
    private let extent: String?
    private let frames: [Choice]

    init(_ listing: CollectionListing) {
        let found = GeoPlaces(in: listing.documents)
        extent = found.extent
        var places: [MapView.Place] = []
        var entries: [Entry] = []
        for place in found.shown {
            let link = LinkView(toRowOf: place.document)
            places.append(MapView.Place(point: place.point, label: link.text, url: link.url))
            entries.append(Entry(link: link, field: DisplayText(place.field), place: PlaceView(place.point, in: .listed)))
        }
        self.entries = entries
        let request = listing.request
        let frame = request.showsWorld ? MapFrame.world : MapFrame(around: places.map(\.point))
        map = places.isEmpty ? nil : MapView(of: places, in: frame)
        frames = [false, true].map { world in
            Choice(
                text: world ? localized("World") : localized("Fit"),
                url: request.url(after: request.after, showsWorld: world),
                isCurrent: world == request.showsWorld
            )
        }
        navigation = CollectionNavigation(listing, hasPlaces: true)
        chrome = PageChrome(at: request.path.segments)
    }

    func content(named name: String) -> Any? {
        switch name {
        case "map": map.orAbsent
        case "entries": entries
        case "extent": extent.orAbsent
        case "frames": frames
        default: navigation.child(named: name)
        }
    }
}

extension CollectionMapPage.Entry: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "link": link
        case "field": field
        case "place": place
        default: nil
        }
    }
}
