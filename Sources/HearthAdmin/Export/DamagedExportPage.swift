import DocumentModel
import HTTPTypes

/// A warning that an export would lack unreadable documents, with a link to export the others.
struct DamagedExportPage: Page {
    static let template = TemplateLibrary.Name.damagedExport

    var layout: PageLayout
    let status = HTTPResponse.Status.conflict
    private let heading: PathHeading
    private let damaged: [StatusError]
    private let exportURL: String
    private let returnURL: String

    /// - Parameter request: The request for the export.
    init(_ request: PageRequest, of collection: CollectionPath, _ damaged: [StatusError]) {
        layout = PageLayout(at: collection.segments)
        heading = PathHeading(collection.segments)
        self.damaged = damaged
        exportURL = request.pathAndQuery + "&damaged=leave"
        returnURL = AdminURL.collection(collection)
    }

    func content(named name: String) -> Any? {
        switch name {
        case "damaged": DamagedFileList(damaged).orAbsent
        case "exportURL": exportURL
        case "returnURL": returnURL
        default: heading.child(named: name)
        }
    }
}
