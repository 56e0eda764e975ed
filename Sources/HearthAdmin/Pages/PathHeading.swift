import DocumentModel
import StrictJSON

/// The heading of a page about a place in the database: its ID, and its path to be copied.
struct PathHeading: Sendable {
    private let name: DisplayText
    private let encodedPath: String

    /// - Parameter segments: The IDs of the path, at least one.
    init(_ segments: [UTF8Key]) {
        name = DisplayText(segments.last?.string ?? "")
        encodedPath = segments.map(PercentEncoding.encode).joined(separator: "/")
    }
}

extension PathHeading: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "name": self.name
        // An attribute can hold neither every character nor, to a reader of the source, an invisible one.
        case "encodedPath": encodedPath
        default: nil
        }
    }
}
