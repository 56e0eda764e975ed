import DocumentModel
import HearthAPI
import HearthAdmin
import HearthTransport
import UTF8Text

/// The data sets of `hearth example load`.
enum ExampleData: String, CaseIterable {
    case guide
    case places
    case colors

    /// A one-line description for the help text.
    var summary: String {
        switch self {
        case .guide:
            "sample documents from the guide to mapping Firestore data with Swift Codable (books, colors, locations, programming-languages)"
        case .places:
            "one document per location in the time zone database, with coordinates, in the collection places (Debian package tzdata)"
        case .colors:
            "one document per color name of the X Window System, in the collection x11-colors (Debian package x11-common)"
        }
    }

    /// Reads the documents of the data set.
    ///
    /// - Parameter assets: The folder that contains `Examples`; found automatically by default.
    /// - Throws: `.notFound` if the source file is not installed; `.dataLoss` or `.invalidArgument` if one of its lines cannot be
    ///   parsed.
    func documents(assets: String?) throws(StatusError) -> [ExampleDocument] {
        switch self {
        case .guide: try GuideExample.documents(in: AssetLocation.find(explicit: assets).examples)
        case .places: try PlacesExample.documents()
        case .colors: try ColorsExample.documents()
        }
    }
}

/// A document of a data set, with its location in the source file.
struct ExampleDocument {
    let path: DocumentPath
    let fields: MapValue
    let origin: ImportOrigin
}

/// The text file from which a data set is read.
struct ExampleFile {
    /// Candidate paths; the first existing file is read.
    let paths: [String]
    /// The advice given if none exists, a complete sentence.
    let remedy: String

    /// Calls `body` with each line and its location.
    ///
    /// - Throws: `.notFound` if no candidate path exists; errors of `body`, with the location prepended to the message.
    func forEachLine(_ body: (Substring.UTF8View, ImportOrigin) throws(StatusError) -> Void) throws(StatusError) {
        var lines = try open()
        while let line = try lines.next() {
            let origin = ImportOrigin(file: lines.name, line: lines.lineNumber)
            guard case .complete(let bytes) = line, let text = UTF8Key(validating: bytes) else {
                throw StatusError(.dataLoss, "\(origin): the line is too long or not valid UTF-8.")
            }
            do throws(StatusError) {
                try body(text.string[...].utf8, origin)
            } catch {
                var error = error
                error.message = "\(origin): \(error.message)"
                throw error
            }
        }
    }

    private func open() throws(StatusError) -> LineReader {
        for path in paths {
            do throws(StatusError) {
                return try LineReader(path: path, maximumLineBytes: 64 << 10)
            } catch let error where error.code == .notFound {}
        }
        throw StatusError(.notFound, "\(paths.joined(separator: " or ")) doesn't exist. \(remedy)")
    }
}
