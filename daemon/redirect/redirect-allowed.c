/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "redirect/redirect-allowed.h"

#include "base/text.h"
#include "knob/attribute.h"

int redirect_allowed(const Device *d, const char *component, char **ret_why_not)
{
	if (streq(d->redirect, component))
		return 0;
	if (*d->redirect)
		return not_offered(ret_why_not, "redirect = %s leaves it alone", d->redirect);
	/* exporting a disk says nothing of whether its hosts have another path to it */
	if (streq(component, "nvmet"))
		return not_offered(ret_why_not, "only redirect = nvmet says that its hosts, if it "
						"has any, have another path to the data");
	return 0;
}
