import DocumentModel
import HTTPTypes

/// What of a collection can't be read and would be missing from a file, which is made without it when that is asked for.
struct DamagedExportPage: Page {
    static let template = TemplateLibrary.Name.damagedExport

    var chrome: PageChrome
    let status = HTTPResponse.Status.conflict
    private let heading: PathHeading
    private let damaged: [StatusError]
    private let exportURL: String
    private let backURL: String

    /// - Parameter request: The request for the file.
    init(_ request: AdminPages.PageRequest, of collection: CollectionPath, _ damaged: [StatusError]) {
        chrome = PageChrome(at: collection.segments)
        heading = PathHeading(collection.segments)
        self.damaged = damaged
        exportURL = request.address + "&damaged=leave"
        backURL = AdminURL.collection(collection)
    }

    func content(named name: String) -> Any? {
        switch name {
        case "damaged": DamagedFiles(damaged).orAbsent
        case "exportURL": exportURL
        case "backURL": backURL
        default: heading.child(named: name)
        }
    }
}
