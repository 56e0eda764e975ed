import Cryptography
import DocumentModel
import Foundation
import HearthHTTP
import UTF8Text

/// The static files of the pages, held in memory.
///
/// A request can only name a file that was in the folder at startup; no file path is built from a request. The URL of a file
/// contains the digest of its content, so browsers cache it indefinitely and still fetch a changed file immediately.
struct StaticFiles: Sendable {
    struct File: Sendable {
        let bytes: [UInt8]
        let mediaType: String
        let tag: EntityTag
    }

    private let files: [UTF8Key: File]

    /// Loads every file of a known type directly inside a folder.
    ///
    /// - Throws: `failedPrecondition` when a file cannot be read, `notFound` when an ``Asset`` is missing.
    init(folder: URL) throws(StatusError) {
        var files: [UTF8Key: File] = [:]
        do {
            for url in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
                guard let mediaType = Self.mediaTypes[UTF8Key(url.pathExtension)] else { continue }
                let bytes = try [UInt8](Data(contentsOf: url))
                files[UTF8Key(url.lastPathComponent)] = File(
                    bytes: bytes,
                    mediaType: mediaType,
                    tag: EntityTag(digest: SHA256.digest(of: bytes))
                )
            }
        } catch {
            throw StatusError(.failedPrecondition, "The static files in \(folder.path) cannot be read: \(error)", cause: error)
        }
        let missing = Asset.allCases.map(\.rawValue).filter { files[UTF8Key($0)] == nil }
        guard missing.isEmpty else {
            throw StatusError(.notFound, "The folder \(folder.path) is missing \(missing.joined(separator: ", ")).")
        }
        self.files = files
    }

    /// A file that every page uses.
    enum Asset: String, CaseIterable {
        case styleSheet = "admin.css"
        case tableStyleSheet = "admin-tables.css"
        case editStyleSheet = "admin-edit.css"
        case activityStyleSheet = "admin-activity.css"
        case script = "admin.js"
        case liveScript = "live.js"
        case editScript = "edit.js"
        case refreshScript = "refresh.js"
        case pickerScript = "pickers.js"
        case inlineScript = "inline.js"
        case foldScript = "fold.js"
        case columnScript = "columns.js"
        case filterScript = "filter.js"
        case queryScript = "query.js"
        case shortcutScript = "shortcuts.js"
        case findScript = "find.js"
        case treeScript = "tree.js"
        case logo = "logo.svg"

        /// The style sheets, in cascade order.
        static let styleSheets: [Asset] = [.styleSheet, .tableStyleSheet, .editStyleSheet, .activityStyleSheet]
    }

    /// The file with a name.
    subscript(_ name: UTF8Key) -> File? { files[name] }

    /// The cacheable URL of an asset.
    func url(of asset: Asset) -> String {
        // `init` checked that every asset exists.
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
