package import DocumentModel
package import Foundation

/// Where the pages' templates and static files lie.
package struct AssetLocation: Sendable {
    /// The folder of the Mustache templates.
    package let templates: URL
    /// The folder of the static files.
    package let files: URL

    /// Takes `Templates` and `Public` in one folder.
    ///
    /// - Throws: `notFound` naming what the folder lacks.
    package init(folder: URL) throws(StatusError) {
        guard let location = Self(complete: folder) else {
            let lacking = Self.folderNames.filter { !Self.isFolder(folder.appending(path: $0)) }
            throw StatusError(
                .notFound,
                "The folder \(folder.path) lacks \(lacking.joined(separator: " and ")), which hold Hearth's admin pages."
            )
        }
        self = location
    }

    /// Finds the two folders.
    ///
    /// The explicit folder alone counts when there is one. Otherwise it is the nearest folder above the program that
    /// holds both (a build folder lies below the source's), or else the folder that an installation puts them in.
    ///
    /// - Parameters:
    ///   - explicit: The folder that the user named.
    ///   - program: The program's file; symbolic links to it are followed.
    ///   - installed: Where an installation puts the folders.
    /// - Throws: `notFound` naming the folders that were looked at.
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
            Found no folder with Hearth's Templates and Public: neither above \(program?.path ?? "the program") \
            nor at \(installed.path). Name the folder that holds both with --assets.
            """
        )
    }
}

extension AssetLocation {
    private static let folderNames = ["Templates", "Public"]

    private init?(complete folder: URL) {
        // Listing a folder does not follow a link to it.
        let folders = Self.folderNames.map { folder.appending(path: $0).resolvingSymlinksInPath() }
        guard folders.allSatisfy(Self.isFolder) else { return nil }
        templates = folders[0]
        files = folders[1]
    }

    private static func isFolder(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
    }
}
