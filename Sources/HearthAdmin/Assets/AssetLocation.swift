package import DocumentModel
package import Foundation

/// The folders that contain the pages' templates and static files, and the example data beside them.
package struct AssetLocation: Sendable {
    /// The folder of the Mustache templates.
    package let templates: URL
    /// The folder of the static files.
    package let files: URL
    /// The folder of the example data, which the server does not need.
    package let examples: URL

    /// Uses `Templates` and `Public` in one folder.
    ///
    /// - Throws: `notFound` naming the missing subfolders.
    package init(folder: URL) throws(StatusError) {
        guard let location = Self(complete: folder) else {
            let missing = Self.folderNames.filter { !Self.isFolder(folder.appending(path: $0)) }
            throw StatusError(
                .notFound,
                """
                The folder \(folder.path) is missing \(missing.joined(separator: " and ")). \
                Specify the folder that contains Hearth's Templates and Public.
                """
            )
        }
        self = location
    }

    /// Locates the two folders.
    ///
    /// An explicit folder takes precedence. Without one, the nearest ancestor of the executable that contains both folders is
    /// used (a build folder is inside the source folder), then the installation folder.
    ///
    /// - Parameters:
    ///   - explicit: The folder that the user specified.
    ///   - program: The executable; symbolic links are resolved.
    ///   - installed: The folder of an installed package.
    /// - Throws: `notFound` naming the folders that were searched.
    package static func find(
        explicit: String? = nil,
        program: URL? = Bundle.main.executableURL,
        installed: URL = URL(filePath: "/usr/share/hearth")
    ) throws(StatusError) -> AssetLocation {
        if let explicit { return try AssetLocation(folder: URL(filePath: explicit)) }
        var folder = program?.resolvingSymlinksInPath().deletingLastPathComponent()
        while let candidate = folder {
            if let location = AssetLocation(complete: candidate) { return location }
            let parent = candidate.deletingLastPathComponent().standardizedFileURL
            folder = parent.path.utf8.count < candidate.path.utf8.count ? parent : nil
        }
        if let location = AssetLocation(complete: installed) { return location }
        throw StatusError(
            .notFound,
            """
            Found no folder with Hearth's Templates and Public: neither a parent folder of \(program?.path ?? "the program") \
            nor \(installed.path) contains both. Specify the folder with --assets.
            """
        )
    }
}

extension AssetLocation {
    private static let folderNames = ["Templates", "Public"]

    private init?(complete folder: URL) {
        // Listing a folder doesn't resolve a symbolic link to it.
        let folders = Self.folderNames.map { folder.appending(path: $0).resolvingSymlinksInPath() }
        guard folders.allSatisfy(Self.isFolder) else { return nil }
        templates = folders[0]
        files = folders[1]
        examples = folder.appending(path: "Examples")
    }

    private static func isFolder(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
    }
}
