import DocumentModel
import HTTPTypes
import HearthAPI

/// A form that was submitted to a page.
struct FormSubmission: Sendable {
    let form: Form
    /// True if the CSRF token does not match: the form was rendered for another principal or before a restart.
    ///
    /// A stale form is shown again with its contents and changes nothing.
    let isStale: Bool
}

/// The result of handling a request to a page with a form.
enum FormResult {
    case page(any Page)
    case redirect(to: String, flash: Flash? = nil)
}

extension AdminRequest {
    /// Responds to a request to a page with a form.
    ///
    /// - Parameter handle: Returns the page for a GET request, and handles the submitted form of a POST request.
    func respond(toForm handle: (FormSubmission?) async throws(StatusError) -> FormResult) async -> PageResponse {
        var submission: FormSubmission?
        if method == .post {
            guard let form = (try? http.upload?.get()) ?? http.form.flatMap({ Form($0) }) else {
                return await respond(with: http.form == nil ? ErrorPage.formTooLarge : ErrorPage.invalidForm)
            }
            submission = FormSubmission(form: form, isStale: !scope.csrfToken.matches(form))
        }
        do throws(StatusError) {
            switch try await handle(submission) {
            case .page(let page): return await respond(with: page)
            case .redirect(let url, let flash): return .seeOther(url, flash: flash)
            }
        } catch {
            return await respond(to: error)
        }
    }
}
