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
    private let frame: CollectionFrame
    private let map: MapView?
    private let entries: [Entry]
    /// How many places are shown of how many.
    private let extent: String?
    private let frames: [Choice]
    /// The page of the documents that are in this part of the Earth; nil where there is no one field to say so by.
    private let filteredURL: String?
    private let insideCount: String?

    init(_ frame: CollectionFrame) {
        self.frame = frame
        let request = frame.listing.request
        let found = frame.places.found.elements
        extent = frame.places.extent
        let part = request.frame ?? MapFrame(around: found.map(\.point))
        let places = found.map { place in
            MapView.Place(
                point: place.point,
                label: LinkView(toRowOf: place.document).text,
                url: AdminURL.document(place.document)
            )
        }
        map = places.isEmpty ? nil : MapView(of: places, in: part) { nearer in request.url { $0.frame = nearer } }
        let inside = found.filter { part.contains($0.point) }
        entries = inside.map { place in
            Entry(
                link: LinkView(toRowOf: place.document),
                field: DisplayText(place.field),
                place: PlaceView(place.point, in: .listed)
            )
        }
        insideCount =
            inside.count < places.count
            ? localized(
                "{shown} of {total} places are in this part of the map.",
                ["shown": Counting.grouped(inside.count), "total": Counting.grouped(places.count)]
            )
            : nil
        let fits = [(localized("Fit"), nil), (localized("World"), MapFrame.world)].map { text, choice in
            Choice(text: text, url: request.url { $0.frame = choice }, isCurrent: choice == request.frame)
        }
        let moves = Self.moves(from: part).map { text, choice in
            Choice(text: text, url: request.url { $0.frame = choice }, isCurrent: false)
        }
        frames = fits + moves
        filteredURL = Self.filtered(request, to: part, by: found)
        chrome = PageChrome(at: request.path.segments)
    }

    func content(named name: String) -> Any? {
        switch name {
        case "map": map.orAbsent
        case "entries": entries
        case "extent": extent.orAbsent
        case "framesMarkup": frames.itemsMarkup(current: "true")
        case "insideCount": insideCount.orAbsent
        case "filteredURL": filteredURL.orAbsent
        default: frame.child(named: name)
        }
    }

    private static func moves(from part: MapFrame) -> [(String, MapFrame)] {
        let all: [(String, MapFrame)] = [
            (localized("Zoom in"), part.scaled(by: 0.5)), (localized("Zoom out"), part.scaled(by: 2)),
            (localized("West"), part.moved(east: -0.5, north: 0)),
            (localized("East"), part.moved(east: 0.5, north: 0)), (localized("North"), part.moved(east: 0, north: 0.5)),
            (localized("South"), part.moved(east: 0, north: -0.5)),
        ]
        return all.filter { $0.1 != part }
    }

    /// The documents of a part, by the one field that their places are in.
    private static func filtered(_ request: CollectionRequest, to part: MapFrame, by found: [GeoPlaces.Found]) -> String? {
        guard request.frame != nil, part != .world, request.filters.count < CollectionRequest.maximumFilterCount,
            let field = found.first?.field, found.allSatisfy({ UTF8Key($0.field) == UTF8Key(field) }),
            let path = try? FieldPath(field), let corners = part.corners
        else { return nil }
        var row = FilterRow()
        row.field = FieldText.text(path)
        row.op = .within
        row.operand = TypedText(FilterPlace(southWest: corners.southWest, northEast: corners.northEast).text, as: .geoPoint)
        return request.url { request in
            request.filters.append(row)
            request.cursor = nil
        }
    }
}

extension MapFrame {
    /// The corners of the part, with longitudes as points have them.
    fileprivate var corners: (southWest: GeoPoint, northEast: GeoPoint)? {
        var east = west + width
        if east > 180 { east -= 360 }
        guard let southWest = try? GeoPoint(validatingLatitude: max(north - height, -90), longitude: west),
            let northEast = try? GeoPoint(validatingLatitude: north, longitude: east)
        else { return nil }
        return (southWest, northEast)
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
