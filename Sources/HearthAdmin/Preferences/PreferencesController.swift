import HearthAPI
import UTF8Text

/// The controller for the form that stores preferences.
struct PreferencesController {
    let request: AdminRequest

    /// Stores the preferences of a form in cookies.
    func save() async -> PageResponse {
        guard let form = request.http.form.flatMap({ Form($0) }) else {
            return await request.respond(with: ErrorPage.invalidForm)
        }
        let response = PageResponse.seeOther(ReturnURL(form["next"]).url)
        return Preferences.cookies(for: form).reduce(response) { $0.settingCookie($1) }
    }
}
