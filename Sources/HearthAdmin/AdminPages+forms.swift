import DocumentModel
import HTTPTypes
import HearthService
import StrictJSON

extension AdminPages {
    /// A form that was sent to a page.
    struct Submission: Sendable {
        let form: Form
        /// Whether it was shown to somebody else, or before the server was started again: then nothing of it is done.
        let isStale: Bool
    }

    /// What becomes of a request to a page with a form.
    enum FormAnswer {
        /// The form, for the first time or again.
        case page(any Page)
        /// Something was done, and the browser goes on to another page.
        case done(at: String, Flash?)
    }

    /// Answers a request to a page with a form.
    ///
    /// - Parameter handle: Gives the page; when a form was sent, does what it asks for.
    func respond(
        to request: PageRequest,
        with handle: (Submission?) async throws(StatusError) -> FormAnswer
    ) async -> PageResponse {
        var submission: Submission?
        if request.method == .post {
            guard let form = (try? request.upload?.get()) ?? request.form.flatMap({ Form($0) }) else {
                return await respond(with: request.form == nil ? ProblemPage.formTooLarge : ProblemPage.unknownForm)
            }
            submission = Submission(form: form, isStale: !visit.token.isSent(by: form))
        }
        do throws(StatusError) {
            switch try await handle(submission) {
            case .page(let page): return await respond(with: page)
            case .done(let address, let flash): return .seeOther(address, flash: flash)
            }
        } catch {
            return await respond(to: error)
        }
    }

    /// Answers with what is wrong. Only what the server has to answer for is logged.
    func respond(to error: StatusError) async -> PageResponse {
        if let page = await damagedPage(error) { return await respond(with: page) }
        if error.code.httpStatus >= 500 { log(error) }
        return await respond(with: ProblemPage(error))
    }

    /// The page of the document whose file stands in the way; nil where something else does.
    private func damagedPage(_ error: StatusError) async -> DamagedDocumentPage? {
        guard error.code == .dataLoss, error.file != nil, let path = error.path.flatMap({ try? DocumentPath($0) }),
            let subcollections = try? await Subcollections(of: path, in: context)
        else { return nil }
        return DamagedDocumentPage(path, error, subcollections: subcollections, status: .conflict)
    }
}
