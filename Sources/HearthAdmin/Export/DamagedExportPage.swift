import DocumentModel
import HTTPTypes
import StrictJSON
internal import UTF8Text

/// A warning that unreadable documents would be missing from an export, with a link that exports the others.
struct DamagedExportPage: Page {
    static let template = TemplateLibrary.Name.damagedExport

    var layout: PageLayout
    let status = HTTPResponse.Status.conflict
    private let name: DisplayText
    private let damaged: DamagedFileList?
    private let exportURL: String
    private let returnURL: String

    /// - Parameter request: The request for the export.
    init(_ request: PageRequest, of collection: CollectionPath, _ damaged: [StatusError]) {
        layout = PageLayout(at: collection.segments)
        name = DisplayText(collection.id.key.string)
        self.damaged = DamagedFileList(damaged)
        exportURL = request.pathAndQuery + "&damaged=leave"
        returnURL = AdminURL.collection(collection)
    }
}
