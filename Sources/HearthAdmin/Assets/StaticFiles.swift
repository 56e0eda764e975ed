import Crypto
import DocumentModel
import Foundation
import StrictJSON

/// The static files of the pages, held in memory.
///
/// A request can name only what was in the folder at start: no path is built from it. The URL of a file carries the
/// digest of its content, so that browsers may keep it for good and still get a changed one at once.
struct StaticFiles: Sendable {
    struct File: Sendable {
        let bytes: [UInt8]
        let mediaType: String
        let tag: EntityTag
    }

    private let files: [UTF8Key: File]

    /// Reads every file of known type that lies directly in a folder.
    ///
    /// - Throws: `failedPrecondition` naming a file that can't be read, `notFound` when the pages' own style sheet is missing.
    init(folder: URL) throws(StatusError) {
        var files: [UTF8Key: File] = [:]
        do {
            for url in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
                guard let mediaType = Self.mediaTypes[UTF8Key(url.pathExtension)] else { continue }
                let bytes = try [UInt8](Data(contentsOf: url))
                files[UTF8Key(url.lastPathComponent)] = File(
                    bytes: bytes,
                    mediaType: mediaType,
                    tag: EntityTag(digest: SHA256.hash(data: bytes))
                )
            }
        } catch {
            throw StatusError(.failedPrecondition, "The static files in \(folder.path) can't be read: \(error)", cause: error)
        }
        let missing = Asset.allCases.map(\.rawValue).filter { files[UTF8Key($0)] == nil }
        guard missing.isEmpty else {
            throw StatusError(.notFound, "The folder \(folder.path) lacks \(missing.joined(separator: ", ")).")
        }
        self.files = files
    }

    /// The files that every page uses.
    enum Asset: String, CaseIterable {
        case styleSheet = "admin.css"
        case tableStyleSheet = "admin-tables.css"
        case editStyleSheet = "admin-edit.css"
        case script = "admin.js"
        case liveScript = "live.js"
        case editScript = "edit.js"
        case keys = "keys.js"
        case logo = "logo.svg"

        /// Those that style pages, in the order in which they count.
        static let styleSheets: [Asset] = [.styleSheet, .tableStyleSheet, .editStyleSheet]
    }

    /// The file of a name.
    subscript(_ name: UTF8Key) -> File? { files[name] }

    /// The address of a file that every page uses, for good.
    func url(of asset: Asset) -> String {
        // Each asset was found when the files were read.
        "\(AdminURL.assets)\(asset.rawValue)?v=\(files[UTF8Key(asset.rawValue)]?.tag.digits ?? "")"
    }
}

extension StaticFiles {
    private static let mediaTypes: [UTF8Key: String] = [
        "css": "text/css; charset=utf-8",
        "ico": "image/x-icon",
        "js": "text/javascript; charset=utf-8",
        "png": "image/png",
        "svg": "image/svg+xml",
        "txt": "text/plain; charset=utf-8",
        "woff2": "font/woff2",
    ]
}
